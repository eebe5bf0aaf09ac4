package main

import (
	"context"
	"net/url"
	"strconv"

	"github.com/alecthomas/kingpin/v2"
)

func addIncident(app *kingpin.Application) command {
	var id, judgement string
	f := &sidecarFlags{}
	c := app.Command("incident", "Judge incidents.").Command("mark", `Mark an incident as a false page, for the review of the pages.

The page of the incident and "synthetic report slo" say so. true says that the
page was real: the detection of regressions then does not wait longer for the next
one. The sidecar must run with --web.enable-lifecycle. Example:
  synthetic incident mark 20261201-0229-chat false`)
	c.Arg("id", "The last part of the address of the incident's page.").Required().StringVar(&id)
	c.Arg("judgement", "false for a false page; true takes that back.").Required().EnumVar(&judgement, "false", "true")
	f.add(c)
	return command{c, func(ctx context.Context, e env) error {
		return f.post(ctx, e, "-/judge", url.Values{"id": {id}, "false": {strconv.FormatBool(judgement == "false")}})
	}}
}
