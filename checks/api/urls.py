"""Addresses of the API."""

from django.urls import path

from . import views

app_name = "api"

_CHECK = "checks/<str:cluster>/<str:namespace>/<str:name>"

urlpatterns = [
    path("fleet", views.FleetView.as_view(), name="fleet"),
    path("checks/summary", views.SummaryView.as_view(), name="summary"),
    path("checks", views.ChecksView.as_view(), name="checks"),
    path(_CHECK, views.CheckView.as_view(), name="check"),
    path(f"{_CHECK}/runs", views.RunsView.as_view(), name="runs"),
    path("runs/<str:uid>", views.RunView.as_view(), name="run"),
    path("runs/<str:uid>/evidence", views.EvidenceView.as_view(), name="evidence"),
    path("runs/<str:uid>/evidence/<str:name>", views.EvidencePieceView.as_view(), name="evidence-piece"),
    path("registrations", views.RegistrationsView.as_view(), name="registrations"),
]
