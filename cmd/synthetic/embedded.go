package main

// The container image has no base. These packages embed the time zones for TZ, and the
// certificates of public authorities, which are used only if the system has none.
import (
	_ "time/tzdata"

	_ "golang.org/x/crypto/x509roots/fallback"
)
