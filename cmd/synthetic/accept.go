package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
	promconfig "github.com/prometheus/common/config"
)

// acceptTimeout is how long an answer may take, mostAccepted how long, in bytes,
// it may be.
const (
	acceptTimeout = 30 * time.Second
	mostAccepted  = 1 << 20
)

// acceptFlags are the flags of "synthetic accept".
type acceptFlags struct {
	target, workload, since string
	url, httpConfig         string
}

func addAccept(app *kingpin.Application) command {
	f := &acceptFlags{}
	c := app.Command("accept", `Take the level of a target for the usual one.

For a deployment that is meant to be slower, or a page about what is to stay:
what was measured since is from now on what turns are compared with. The sidecar
must have been started with --web.enable-lifecycle.`)
	c.Flag("target", "The target, by its label.").Required().StringVar(&f.target)
	c.Flag("workload", "Only this workload of it; default: all of them.").StringVar(&f.workload)
	c.Flag("since", "Since when the level is what it is: a time as 2026-12-01T10:00:00Z, or how long ago as 2h; default: since the regression began, or the last 30 minutes if there is none.").StringVar(&f.since)
	c.Flag("url", "Address of the sidecar, with its prefix if it has one.").Default("http://127.0.0.1:9877").StringVar(&f.url)
	c.Flag("http.config.file", "How to reach it, as Prometheus' <http_config>: passwords, certificates.").StringVar(&f.httpConfig)
	return command{c, f.run}
}

func (f *acceptFlags) run(ctx context.Context, e env) error {
	base, err := url.Parse(f.url)
	if err != nil || base.Host == "" || base.User != nil {
		return usagef("--url: not an address without user information: write for example http://127.0.0.1:9877, and passwords in a file of --http.config.file")
	}
	client, err := f.client()
	if err != nil {
		return err
	}
	form := url.Values{"target": {f.target}, "workload": {f.workload}, "since": {f.since}}
	ctx, cancel := context.WithTimeout(ctx, acceptTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, base.JoinPath("-/accept").String(), strings.NewReader(form.Encode()))
	if err != nil {
		return usagef("--url: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("asking the sidecar: %w; does it run there?", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostAccepted))
	if err != nil {
		return fmt.Errorf("reading the sidecar's answer: %w", err)
	}
	return f.tell(e, resp.StatusCode, strings.TrimSpace(string(text)))
}

func (f *acceptFlags) client() (*http.Client, error) {
	if f.httpConfig == "" {
		return http.DefaultClient, nil
	}
	cfg, _, err := promconfig.LoadHTTPConfigFile(f.httpConfig)
	if err != nil {
		return nil, usagef("--http.config.file: %w", err)
	}
	client, err := promconfig.NewClientFromConfig(*cfg, "accept")
	if err != nil {
		return nil, usagef("--http.config.file: %w", err)
	}
	return client, nil
}

// tell prints what was accepted, or why nothing was: what the caller can mend is
// a mistake of the caller.
func (f *acceptFlags) tell(e env, status int, text string) error {
	switch {
	case status == http.StatusOK:
		fmt.Fprintln(e.stdout, text)
		return nil
	case status == http.StatusUnauthorized:
		return usagef("%s asks who you are: name a file with the password in --http.config.file", f.url)
	case status >= 400 && status < 500:
		return usageError{errors.New(text)}
	}
	return fmt.Errorf("the sidecar answers %d: %s", status, text)
}
