package main

import (
	"os"
	"strings"
	"time"
)

// localtime is the link to the zone file of a Unix machine.
const localtime = "/etc/localtime"

// zoneName returns the IANA name of a machine's zone: the name that TZ gave to local, or the target of
// the link at path. It returns "" if neither is the name of a zone.
func zoneName(local *time.Location, path string) string {
	name := local.String()
	if name == "Local" {
		linked, _ := os.Readlink(path) // an error leaves no name
		_, name, _ = strings.Cut(linked, "zoneinfo/")
	}
	if _, err := time.LoadLocation(name); err != nil {
		return ""
	}
	return name
}
