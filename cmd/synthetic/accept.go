package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/probe/target"
	"synthetic/internal/redact"
)

// Limits of the sidecar's response.
const (
	acceptTimeout  = 30 * time.Second
	maxAcceptBytes = 1 << 20
)

type acceptFlags struct {
	target, workload, since string
	sidecar                 sidecarFlags
}

func addAccept(app *kingpin.Application) command {
	f := &acceptFlags{}
	c := app.Command("accept", `Take the present latency of a target as its new usual latency (baseline).

Use it when a deployment is slower on purpose, for example after a change of the
model, so that its regression alert ends. The sidecar must run with
--web.enable-lifecycle. Example:
  synthetic accept --target=chat --since=2h`)
	c.Flag("target", "Name of the target.").Required().StringVar(&f.target)
	c.Flag("workload", "Only this workload. Default: all workloads of the target.").StringVar(&f.workload)
	c.Flag("since", "Start of the new latency: a time such as 2026-12-01T10:00:00Z, or an age such as 2h. Default: the start of the regression, or 30 minutes ago if there is none.").StringVar(&f.since)
	f.sidecar.add(c)
	return command{c, func(ctx context.Context, e env) error {
		return f.sidecar.ask(ctx, e, http.DefaultClient, http.MethodPost, "-/accept", url.Values{"target": {f.target}, "workload": {f.workload}, "since": {f.since}})
	}}
}

// sidecarFlags name a running sidecar, for commands that change something in it.
type sidecarFlags struct{ url, httpConfig string }

func (f *sidecarFlags) add(c *kingpin.CmdClause) {
	c.Flag("url", "Address of the sidecar, with its path prefix if it has one.").Default("http://127.0.0.1:9877").StringVar(&f.url)
	c.Flag("http.config.file", "File with passwords and certificates for the sidecar, in the format of Prometheus' <http_config>.").StringVar(&f.httpConfig)
}

// health prints whether the sidecar probes, or returns an error. It accepts any certificate, as the kubelet does.
func (f *sidecarFlags) health(ctx context.Context, e env) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	return f.ask(ctx, e, client, http.MethodGet, "-/ready", nil)
}

// ask sends a request to a path of the sidecar and prints the answer, with the client unless there is a file of
// --http.config.file. Client errors (4xx) are usage errors.
func (f *sidecarFlags) ask(ctx context.Context, e env, client *http.Client, method, path string, form url.Values) error {
	base, err := url.Parse(f.url)
	if err != nil || base.Host == "" || base.User != nil {
		return usagef("--url: want an address without user and password, for example http://127.0.0.1:9877; passwords belong in the file of --http.config.file")
	}
	if f.httpConfig != "" {
		cfg, _, err := promconfig.LoadHTTPConfigFile(f.httpConfig)
		if err != nil {
			return usagef("--http.config.file: %w; write it as Prometheus' <http_config>", err)
		}
		target.RememberSecrets(*cfg)
		if client, err = target.NewClient(*cfg, "synthetic", promconfig.WithKeepAlivesDisabled()); err != nil {
			return usagef("--http.config.file: %w", err)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, acceptTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, base.JoinPath(path).String(), strings.NewReader(form.Encode()))
	if err != nil {
		return usagef("--url: %w", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("cannot reach the sidecar: %w; check that it runs, and that --url names its address", err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAcceptBytes))
	if err != nil {
		return fmt.Errorf("reading the sidecar's answer: %w", err)
	}
	switch text := strings.TrimSpace(string(answer)); {
	case resp.StatusCode == http.StatusOK:
		fmt.Fprintln(e.stdout, redact.Text(text))
		return nil
	case resp.StatusCode == http.StatusUnauthorized:
		return usagef("%s requires a password: name a file that has it with --http.config.file", f.url)
	case text == "404 page not found":
		return usagef("there is no sidecar at %s: check --url, which ends with the path of --web.route-prefix if the sidecar has one", f.url)
	case resp.StatusCode >= 400 && resp.StatusCode < 500:
		return usageError{errors.New(text)}
	default:
		return fmt.Errorf("the sidecar answers %d: %s", resp.StatusCode, text)
	}
}
