"""Every way a sign-in can be refused: a code for the log, and a page for the person.

The page says what happened and what to do; it never repeats what the provider or a token said.
"""

from taugrid_portal.errors import TOO_MANY_GROUPS, Failure

_AGAIN = "Sign in again. If it happens once more, tell whoever runs this portal the time at which it happened."
_TOKEN = "The answer of the sign-in provider was not accepted, because {}. " + _AGAIN
_PERSON = "The sign-in provider answered, but {}. Ask whoever runs the provider to correct it."


def _token(code: str, because: str) -> Failure:
    return Failure(403, code, "Sign-in refused", _TOKEN.format(because))


def _person(code: str, because: str) -> Failure:
    return Failure(403, code, "Sign-in refused", _PERSON.format(because))


def _provider(code: str, sentence: str) -> Failure:
    return Failure(503, code, "The sign-in provider cannot be used", sentence, retryable=True)


REFUSALS = {
    refusal.code: refusal
    for refusal in (
        Failure(
            400,
            "state_unknown",
            "This sign-in cannot be finished",
            "It was not started in this browser, or it was finished before. Start again.",
        ),
        Failure(
            400,
            "state_expired",
            "This sign-in took too long",
            "For your safety a sign-in must be finished within ten minutes. Start again.",
        ),
        Failure(
            403,
            "declined",
            "Not signed in",
            "The sign-in provider says that the sign-in was declined. Sign in again if that was not meant.",
        ),
        Failure(403, "provider_refused", "Sign-in refused", "The sign-in provider did not sign you in. " + _AGAIN),
        _provider("provider_unreachable", "It cannot be reached at the moment. Try again shortly."),
        _provider("provider_slow", "It takes too long to answer. Try again shortly."),
        _provider(
            "provider_certificate",
            "Its certificate is not trusted here, so nothing was sent to it. Tell whoever runs this portal.",
        ),
        _provider(
            "provider_untrusted",
            "What it says about itself does not fit how this portal is configured, so nothing was sent to it. Tell "
            "whoever runs this portal.",
        ),
        _provider("provider_invalid", "Its answer cannot be read. Tell whoever runs it."),
        _token("token_malformed", "it is not a readable ID token"),
        _token("token_algorithm", "it is not signed in a way this portal allows"),
        _token("token_key_unknown", "it is signed with a key that the provider does not publish"),
        _token("token_signature", "its signature is wrong"),
        _token("token_issuer", "another provider issued it"),
        _token("token_audience", "it is meant for another application"),
        _token("token_party", "it was issued to another application"),
        _token("token_expired", "it has expired; the clocks of provider and portal may differ"),
        _token("token_not_yet_valid", "it is not valid yet; the clocks of provider and portal may differ"),
        _token("token_nonce", "it belongs to another sign-in"),
        _token("token_claim_missing", "it leaves out something that an ID token must have"),
        _person("subject_invalid", "it does not say who you are in a form that can be trusted"),
        _person("subject_changed", "it named another person than the one who was signed in here"),
        _person("username_invalid", "the name it gives you is missing or cannot be used"),
        _person("name_reserved", "a name or group it gives you is reserved for Kubernetes itself"),
        _person("email_unverified", "it has not verified the e-mail address that is your name here"),
        _person("groups_malformed", "the groups it gives you cannot be read, and part of them is not enough"),
        TOO_MANY_GROUPS,
    )
}


class Refused(Exception):
    """A sign-in ends here. Carries its code alone: no token, no claim, no word of the provider."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.failure = REFUSALS[code]
