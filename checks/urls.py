"""Addresses of the pages and of each panel."""

from django.urls import path

from . import views

app_name = "checks"

urlpatterns = [
    path("", views.fleet, name="fleet"),
    path("nodes/", views.nodes, name="nodes"),
    path("checks/", views.checks, name="checks"),
    path("checks/<str:cluster>/<str:namespace>/<str:name>/", views.check, name="check"),
    path("checks/<str:cluster>/<str:namespace>/<str:name>/runs/", views.runs, name="runs"),
    path("checks/<str:cluster>/<str:namespace>/<str:name>/<str:panel>/", views.check, name="check-panel"),
    path("runs/<str:uid>/", views.run, name="run"),
    path("runs/<str:uid>/bundle.tar", views.evidence.bundle, name="bundle"),
    path("runs/<str:uid>/evidence/<str:name>/", views.evidence.shown, name="evidence"),
    path("runs/<str:uid>/evidence/<str:name>/content", views.evidence.content, name="evidence-content"),
    path("runs/<str:uid>/<str:panel>/", views.run, name="run-panel"),
]
