"""Secrets are found with exact spans; ordinary notes are left alone; no text makes it slow."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cofferctl import secrets

A, B = "x7Kp2Qm9", "Zz9" * 12  # never whole tokens in the source: scanners of other people read it too
KEY_LINES = "MIIEpAIBAAKCAQEA1q2w3e4r5t6y7u8i9o0p\n" * 3
PEM = "-----{} RSA PRIVATE KEY-----\n{}zQ==\n-----{} RSA PRIVATE KEY-----".format("BEGIN", KEY_LINES, "END")

SECRETS = {
    "ghp_" + B: "GitHub token",
    "gho_" + B: "GitHub token",
    "ghs_" + B: "GitHub token",
    "ghu_" + B: "GitHub token",
    "ghr_" + B: "GitHub token",
    "github_pat_" + "11ABCDEFG0" + A * 5: "GitHub token",
    "glpat-" + A * 3: "GitLab token",
    "xoxb-" + "1234567890-" + A * 3: "Slack token",
    "sk_live_" + A * 3: "Stripe key",
    "rk_live_" + A * 3: "Stripe key",
    "sk-" + A * 6: "OpenAI key",
    "sk-proj-" + A * 8: "OpenAI key",
    "sk-ant-" + "api03-" + A * 8: "Anthropic key",
    "AKIA" + "QQQQ" * 4: "AWS access key id",
    "AIza" + "Sy" + A * 4: "Google API key",
    "GOCSPX-" + A * 3: "Google OAuth secret",
    "npm_" + B: "npm token",
    "pypi-" + "AgEIcHlwaS5vcmc" + A * 5: "PyPI token",
    "hf_" + "aBcDeFgHiJ" * 4: "Hugging Face token",
    "SG." + A * 3 + "." + A * 5: "SendGrid key",
    "SK" + "0123456789abcdef" * 2: "Twilio key",
    "12345678" + ":AA" + A * 4: "Telegram bot token",
    "MTIz" + A * 3 + ".Gx7Kp2." + A * 4: "Discord bot token",
    "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0In0." + A * 4: "JSON web token",
    "AGE-SECRET-KEY-1" + "QZ7X9P2M" * 8: "age secret key",
    "abc8Q~" + A * 4: "Azure client secret",
    "hvs." + A * 4: "access token",
    PEM: "private key",
    PEM.replace("\n", "\\n"): "private key",
}

IN_CONTEXT = [
    ("password = 'Tr0ub4dor&3'", "Tr0ub4dor&3", "password or key"),
    ('"client_secret": "k9$Lq2!vX0"', "k9$Lq2!vX0", "password or key"),
    ("DB_PASSWORD=q8Lm3Zx9Wp", "q8Lm3Zx9Wp", "password or key"),
    ("export API_KEY=" + "0123456789abcdef" * 2, "0123456789abcdef" * 2, "password or key"),
    ("The admin password is Tr0ub4dor&3.", "Tr0ub4dor&3", "password or key"),
    ("run login --password Tr0ub4dor&3 now", "Tr0ub4dor&3", "password or key"),
    ("token: q8Lm3Zx9Wp7, rotated", "q8Lm3Zx9Wp7", "password or key"),
    ("postgres://app:s3cr3t@db:5432/x", "s3cr3t", "password in a URL"),
    ("https://me:p@ss0rd@example.org/a", "p@ss0rd", "password in a URL"),
    ("redis://:hunter2@cache/0", "hunter2", "password in a URL"),
    ("Authorization: Bearer q8Lm3Zx9Wp7rT5yU1", "q8Lm3Zx9Wp7rT5yU1", "authorization header"),
    ("Authorization: Basic dXNlcjpwYXNzd29yZDEyMw==", "dXNlcjpwYXNzd29yZDEyMw==", "authorization header"),
    (
        "aws_secret_access_key = " + "wJal1XUtnF/" * 3 + "wJal1XU",
        "wJal1XUtnF/" * 3 + "wJal1XU",
        "AWS secret access key",
    ),
    ("AccountKey=" + A * 10 + "abcdef==;x", A * 10 + "abcdef==", "password or key"),
    ("https://x.blob/c?sv=1&sig=" + A * 6 + "%3D&e", A * 6 + "%3D", "Azure shared access signature"),
    ("https://hooks.slack.com/services/T0AB1/B0CD2/" + A * 3, "T0AB1/B0CD2/" + A * 3, "Slack webhook"),
]

INNOCENT = """
JWT_SECRET is stored in AWS Secrets Manager under prod/api/jwt and rotated every 90 days.
token: see vault
password = os.environ["X"]
password = os.environ["DB_PASSWORD_2024"]
api_key=env:NAME
api_key: ${OPENAI_API_KEY}
password: $DB_PASS_2
secret = config.get("billing/secret_v2")
secret: vault:kv/data/prod/app1
The compare-and-set is set_if_equals; a None token is unconditional.
Fixed in commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b.
token bucket rewritten in 9f86d08
digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
token: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
session token id: 01900000-0000-7000-8000-000000000001
secret_id = 01JABCDEFGHJKMNPQRSTVWXYZ0
Password reset mails come from no-reply@example.org.
The token expires after 3600 seconds; max_tokens=1000000.
tokens: 128000 per request
password: minimum 12 characters, one digit
password_hash = argon2id
token_type: application/vnd.oauth2+json
secrets: kubernetes-external-secrets/v2
Secret name: prod-eu-west-1/payments/api-key
keys are in ~/.ssh/id_ed25519 and ~/.config/app/token.json
private_key = /etc/ssl/private/server2048.pem
access key = arn:aws:iam::123456789012:user/deploy
The header Authorization: Bearer <token> is required.
Authorization: Bearer token-from-the-login-step
Files with -----BEGIN RSA PRIVATE KEY----- must never be committed.
https://example.org:8443/a@b
postgres://user:password@localhost/db
amqp://guest:guest@rabbit
https://${USER}:${PASS}@host/x
git@github.com:owner/name.git
The prefix of our keys is sk-, of GitHub's ghp_ and github_pat_.
class sk-learn-pipeline-with-a-long-name
npm_config_registry and npm_package_version are set by npm.
xoxb-your-bot-token-here
Use pypi-publish-action-with-trusted-publishers-only for releases.
getUserById lives in src/services/user_service.ts, error E1042.
The API token lasts from 2026-06-09T10:11:12+00:00 on.
token_expiry: 2026-06-09T10:11:12+00:00
password = base64.b16encode(raw)
密码在保险库中 token: 请看文档说明部分
pwd=/home/dev/work/2024-report
""".strip().splitlines()


@pytest.mark.parametrize(("secret", "kind"), SECRETS.items(), ids=lambda value: value[:12])
@pytest.mark.parametrize("frame", ["{}", "use {} now", "say `{}`.", "é😀 ({})", "X={}\nend"])
def test_each_kind_is_found_exactly(secret, kind, frame):
    text = frame.format(secret)
    at = text.index(secret)
    assert secrets.find(text) == [secrets.Secret(kind, at, at + len(secret))]
    masked = secrets.mask(text)
    assert masked == frame.format(f"[masked: {kind}]")
    assert secrets.mask(masked) == masked


@pytest.mark.parametrize(("text", "secret", "kind"), IN_CONTEXT)
def test_values_of_telling_names_are_found_exactly(text, secret, kind):
    assert [(s.kind, text[s.start : s.end]) for s in secrets.find(text)] == [(kind, secret)]
    masked = secrets.mask(text)
    assert all(secret[i : i + 8] not in masked for i in range(max(1, len(secret) - 7)))
    assert secrets.mask(masked) == masked


@pytest.mark.parametrize("text", INNOCENT)
def test_ordinary_notes_are_left_alone(text):
    assert secrets.find(text) == []
    assert secrets.mask(text) == text


def test_a_key_that_is_cut_off_is_masked_but_not_the_prose_after_it():
    text = "key:\n" + PEM.partition("zQ==")[0] + "\nThe rest is prose, 100 words of it."
    [found] = secrets.find(text)
    assert found.kind == "private key"
    assert "MIIE" not in secrets.mask(text)
    assert "rest is prose" in secrets.mask(text)


def test_a_token_inside_a_larger_secret_is_one_secret():
    text = "https://bot:ghp_" + B + "@github.com and Authorization: Bearer sk-" + A * 6
    assert [s.kind for s in secrets.find(text)] == ["GitHub token", "OpenAI key"]
    assert "Zz9Z" not in secrets.mask(text)


def test_the_refusal_names_kinds_and_places_only():
    text = "a ghp_" + B + " b AKIA" + "Q" * 16
    sentence = secrets.kind_sentence(secrets.find(text))
    assert sentence == (
        "This looks like a GitHub token (characters 2 to 42) and an AWS access key id (characters 45 to 65)."
    )


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from([*SECRETS, *(text for text, *_ in IN_CONTEXT), " ", "a", "=", "\n", "token"])
        | st.text(max_size=9),
        max_size=8,
    )
)
def test_spans_are_ordered_and_apart_and_masking_settles(parts):
    text = "".join(parts)
    found = secrets.find(text)
    assert all(0 <= s.start < s.end <= len(text) for s in found)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert not secrets.find("[masked: GitHub token]")


HOSTILE = [
    "ghp_",
    "sk-",
    "eyJ",
    "eyJaaaaaaaa.",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----BEGIN ",
    "password=",
    "password",
    "a://b:",
    "http://a:b@",
    "SG.aaaaaaaaaaaaaaaaaaaaaaaa.",
    "M",
    "MTIzx7Kp2Qm9x7Kp2Qm9x7Kp2.",
    "A1",
    "Bearer ",
    "12345678:AA",
    "glpat-a.",
    "secret_key ",
    "1Q~",
    "sig=",
    "key is ",
    "--token ",
    "--a-",
    "A: b\n",
    "-----BEGIN PRIVATE KEY-----\nA-b: c",
    "tokens",
    " \n",
    "AKIA",
    "0",
    'password"""   :=   ',
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_no_repetition_makes_it_slow(piece):
    text = (piece * (1_000_000 // len(piece) + 1))[:1_000_000]
    start = time.process_time()
    secrets.mask(text)
    assert time.process_time() - start < 1


def test_short_titles_cost_next_to_nothing():
    titles = [text[:70] for text in INNOCENT] * 120
    start = time.process_time()
    for title in titles[:5000]:
        secrets.mask(title)
    assert time.process_time() - start < 0.5  # 50 ms on an idle machine
