// Package runbooks holds the runbooks of the alerts, so that the status page
// can show them where no repository is at hand.
package runbooks

import "embed"

// Files are Synthetic*.md: one for each alert, by its name.
//
//go:embed Synthetic*.md
var Files embed.FS
