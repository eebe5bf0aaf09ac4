package main

// What an image without a base lacks: the certificates of public authorities,
// used only where the system has none, and the time zones that TZ may name.
import (
	_ "time/tzdata"

	_ "golang.org/x/crypto/x509roots/fallback"
)
