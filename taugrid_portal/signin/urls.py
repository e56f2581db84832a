"""Addresses of the sign-in. The provider has `signin/callback/` registered as the redirect address."""

from django.urls import path

from taugrid_portal.signin import views

app_name = "signin"

urlpatterns = [
    path("signin/", views.Begin.as_view(), name="begin"),
    path("signin/callback/", views.Callback.as_view(), name="callback"),
    path("signout/", views.sign_out, name="sign-out"),
    path("signed-out/", views.signed_out, name="signed-out"),
]
