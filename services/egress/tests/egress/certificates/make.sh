#!/usr/bin/env bash
# Makes the authority and the certificate of `secure.test` that the TLS tests use. They guard nothing.
set -euo pipefail
cd "$(dirname "$0")"
curve=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500)
openssl req -x509 "${curve[@]}" -keyout root.key -out root.pem -subj "/CN=Pleat test root" \
    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign
openssl req -x509 "${curve[@]}" -keyout server.key -out server.pem -subj "/CN=secure.test" -CA root.pem -CAkey root.key \
    -addext basicConstraints=critical,CA:FALSE -addext subjectAltName=DNS:secure.test -addext extendedKeyUsage=serverAuth
rm root.key
