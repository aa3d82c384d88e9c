"""What is a secret, by its name and by its form. Pure, and linear in the length of the text.

A run's folder is handed on, so no secret may reach it. In doubt, something counts as a secret.
"""

from __future__ import annotations

import re

HADOOPS = (
    "secret$",
    "password$",
    "ssl.keystore.pass$",
    "fs.s3a.server-side-encryption.key",
    "fs.s3a.*.server-side-encryption.key",
    "fs.s3a.encryption.algorithm",
    "fs.s3a.encryption.key",
    "fs.s3a.secret.key",
    "fs.s3a.*.secret.key",
    "fs.s3a.session.key",
    "fs.s3a.*.session.key",
    "fs.s3a.session.token",
    "fs.s3a.*.session.token",
    "fs.azure.account.key.*",
    "fs.azure.oauth2.*",
    "fs.adl.oauth2.*",
    "fs.gs.encryption.*",
    "fs.gs.proxy.*",
    "fs.gs.auth.*",
    "credential$",
    "oauth.*secret",
    "oauth.*password",
    "oauth.*token",
    "hadoop.security.sensitive-config-keys",
)
"""The default of hadoop.security.sensitive-config-keys in Hadoop 3.4 (core-default.xml): patterns that Hadoop
searches in the name of a property before it shows a value."""
_MORE = (
    r"secret|passw|passphrase|passcode|\.pass$|\.pwd$|token|(^|[._-])sas(?!l)|sas[._-]?key|private[._-]?key|credential"
    r"|(account|access|session|shared|encryption|master|api|auth|ssh)[._-]?key|keytab|keystore\.p|jaas"
    r"|[._-]key$|oauth|authorization$|signature|(zk|zookeeper)[._-]auth|connection[._-]?string|webhook[._-]?(url|endpoint)"
)
_NAME = re.compile("|".join((*HADOOPS, _MORE)), re.IGNORECASE)
_HARMLESS_NAME = re.compile(
    r".*(token|key\.update).*(interval|lifetime|enabled?|use_ip|-ms|\.ms|-secs?|timeout|thread-count|attempts)",
    re.IGNORECASE,
)
"""Times and switches of tokens and keys, which clients need as their cluster has them."""
_KEY_PROVIDER = re.compile(r"(hadoop\.security|dfs\.encryption)\.key\.provider\.(path|uri)")
"""Address of the servers that keep keys, without which no client writes into an encrypted folder."""
_TIME = re.compile(r"[0-9]{1,15}(ms|[smhd])?")
_LOGIN = re.compile(r"://[^\s:/@]{0,1000}:[^\s/@]{1,1000}@")
_VALUE = re.compile(
    rf"{_LOGIN.pattern}|-----BEGIN|\bdigest:[^:\s]{{1,200}}:\S|\beyJ[\w-]{{10,200}}\.[\w-]{{10,200}}\."
    r"|(passw(or)?d|passphrase|pwd|secret|token|account_?key|access_?key|shared_?access_?(key|signature)|api_?key|\bsig)"
    r"\s{0,3}[=:]\s{0,3}[^\s;&,]",
    re.IGNORECASE,
)


def is_secret(name: str, value: str) -> bool:
    """Whether a property holds a secret, or tells where one lies."""
    plain = value.strip().lower()
    if plain in ("true", "false") or (_TIME.fullmatch(plain) and _HARMLESS_NAME.fullmatch(name)):
        return False
    is_named = _NAME.search(name) and not _KEY_PROVIDER.fullmatch(name)
    return bool(is_named or _VALUE.search(value))


def has_login(text: str) -> bool:
    """Whether an address in the text has a password: scheme://user:password@host."""
    return bool(_LOGIN.search(text))


def without_logins(text: str) -> str:
    """The text without the user and password of every address in it."""
    return _LOGIN.sub("://***@", text)
