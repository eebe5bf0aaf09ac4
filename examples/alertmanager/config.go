// Package alertmanager holds the example configuration of an Alertmanager, whose inhibition rules reduce the alerts of
// one fault to one page.
package alertmanager

import _ "embed"

// Config is the file alertmanager.yml.
//
//go:embed alertmanager.yml
var Config []byte
