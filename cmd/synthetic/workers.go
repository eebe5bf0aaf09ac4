package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/config"
	"synthetic/internal/probe/lag"
	"synthetic/internal/redact"
	"synthetic/internal/sidecar/httplimit"
	"synthetic/internal/simulate/cluster"
	"synthetic/internal/study/sweep"
)

const (
	// tokenEnv is the environment variable with the workers' token, used without a token file.
	tokenEnv = "SYNTHETIC_WORKERS_TOKEN"
	// indexEnv is set in the pods of an Indexed Job. All but the first are workers.
	indexEnv = "JOB_COMPLETION_INDEX"
	// workerPort is the port of a worker that is named without one.
	workerPort = "9878"
)

// workerFlags say which workers share the load of a sweep, or that this process is one.
type workerFlags struct {
	worker            bool
	listen, names     string
	tokenFile, tlsDir string
	wait              time.Duration
}

func (f *workerFlags) add(c *kingpin.CmdClause) {
	c.Flag("workers", "Other processes that share the load of each level with this one: their hosts, with a port other than "+workerPort+" after a colon. In the pods of an Indexed Job, all but the first are workers.").PlaceHolder("HOST,...").StringVar(&f.names)
	c.Flag("worker", "Share the load of the sweeps that other processes run with --workers, until stopped.").BoolVar(&f.worker)
	c.Flag("worker.listen", "Address on which a worker waits for sweeps.").PlaceHolder("ADDRESS").Default(":" + workerPort).StringVar(&f.listen)
	c.Flag("workers.token-file", "File with a token that a sweep and its workers share. It must be random, for example from head -c 32 /dev/urandom | base64. The environment variable "+tokenEnv+" can hold the token instead.").PlaceHolder("FILE").StringVar(&f.tokenFile)
	c.Flag("workers.tls-dir", "Directory for TLS: workers serve with tls.crt and tls.key, and the sweep trusts ca.crt, or the system's authorities if it is missing.").PlaceHolder("DIR").StringVar(&f.tlsDir)
	c.Flag("workers.wait", "How long a sweep waits for its workers before the first level.").Default("5m").DurationVar(&f.wait)
}

// works reports whether this process is a worker.
func (f *workerFlags) works() bool {
	index := os.Getenv(indexEnv)
	return f.worker || f.names != "" && index != "" && index != "0"
}

// join adds the workers to the options of a sweep, until leave is called.
func (f *workerFlags) join(o *sweep.Options, logger *slog.Logger) (leave func(), err error) {
	if f.names == "" {
		return func() {}, nil
	}
	for _, v := range o.Plan.Variants {
		if v.Preset != "" {
			return nil, usagef("--workers: variant %q is preset:%s, and every worker would simulate its own deployment; run \"synthetic simulate\" and name its URL", v.Name, v.Preset)
		}
	}
	urls, err := f.urls()
	if err != nil {
		return nil, err
	}
	token, err := f.token()
	if err != nil {
		return nil, err
	}
	transport, err := f.transport()
	if err != nil {
		return nil, err
	}
	o.Patience, o.Workers = f.wait, sweep.NewWorkers(urls, token, transport)
	o.Workers.Logger = logger
	return transport.CloseIdleConnections, nil
}

// urls returns the URLs of the workers.
func (f *workerFlags) urls() (urls []string, err error) {
	scheme := "http://"
	if f.tlsDir != "" {
		scheme = "https://"
	}
	for name := range strings.SplitSeq(f.names, ",") {
		host, port, err := net.SplitHostPort(name)
		if err != nil {
			host, port = strings.Trim(name, "[]"), workerPort
		}
		if host == "" || strings.ContainsAny(host, "/@? ") { // do not print it: it may contain a secret
			return nil, usagef("--workers: want hosts, with a port if it is not %s, for example --workers=host1,host2:9000; give the token with --workers.token-file", workerPort)
		}
		url := scheme + net.JoinHostPort(host, port)
		if slices.Contains(urls, url) {
			return nil, usagef("--workers: %s is named twice", net.JoinHostPort(host, port))
		}
		urls = append(urls, url)
	}
	return urls, nil
}

// token returns the shared token, which is never empty.
func (f *workerFlags) token() (string, error) {
	token := strings.TrimSpace(os.Getenv(tokenEnv))
	if f.tokenFile != "" {
		data, err := os.ReadFile(f.tokenFile)
		token = strings.TrimSpace(string(data))
		switch {
		case err != nil:
			return "", usagef("--workers.token-file: %w", err)
		case token == "":
			return "", usagef("--workers.token-file=%s: the file is empty; write a long random token into it", f.tokenFile)
		}
	}
	if token == "" {
		return "", usagef("a sweep and its workers need a token, because a worker sends requests with its own keys: " +
			"write one with head -c 32 /dev/urandom | base64 > token, give it to all with --workers.token-file=token, or put it into " + tokenEnv)
	}
	redact.Key(token)
	return token, nil
}

// transport reaches workers without the proxy of the environment, which is for deployments.
func (f *workerFlags) transport() (*http.Transport, error) {
	t := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, IdleConnTimeout: time.Minute}
	if f.tlsDir == "" {
		return t, nil
	}
	data, err := os.ReadFile(filepath.Join(f.tlsDir, "ca.crt"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t, nil
	case err != nil:
		return nil, usagef("--workers.tls-dir: %w", err)
	}
	t.TLSClientConfig.RootCAs = x509.NewCertPool()
	if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(data) {
		return nil, usagef("--workers.tls-dir=%s: ca.crt has no certificate in PEM", f.tlsDir)
	}
	return t, nil
}

// work carries parts of other processes' sweeps until ctx ends, and returns errInterrupted.
func (f *workerFlags) work(ctx context.Context, e env, web *sweepWeb) error {
	token, err := f.token()
	if err != nil {
		return err
	}
	l, err := f.open()
	if err != nil {
		return err
	}
	defer l.Close()
	view := newSweepView(e)
	defer view.clear()
	w := &sweep.Worker{
		Options: sweep.Options{Tool: tool(), Lag: lag.New(), Throttled: lag.Throttled, Progress: view.progress, Logger: e.logger},
		Parse: func(path string, text []byte) (sweep.Plan, error) {
			return config.ParsePlan(path, text, cluster.Presets())
		},
		Token: token, Stopped: ctx,
	}
	stop, err := web.serve(&w.Options, shardName(l.Addr().String()), e.logger)
	if err != nil {
		return err
	}
	defer stop()
	defer adaptCollector()()
	connections := httplimit.NewConnections(httplimit.MaxConnections)
	server := httplimit.NewServer(nil, connections, e.logger)
	server.Handler = httplimit.Guard(w, sweep.MaxRequest)
	done := make(chan error, 1)
	go func() { done <- server.Serve(connections.Limit(l)) }()
	e.logger.Info("Waiting for sweeps", "address", l.Addr(), "tls", f.tlsDir != "")
	select {
	case err := <-done:
		return fmt.Errorf("serving sweeps: %w", err)
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second) // to say why it leaves
	defer cancel()
	if server.Shutdown(ending) != nil {
		_ = server.Close() // the process ends
	}
	<-done
	return errInterrupted // not 0, so that a Job replaces the pod of a drained node
}

// open listens for sweeps.
func (f *workerFlags) open() (net.Listener, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.tlsDir != "" {
		pair, err := tls.LoadX509KeyPair(filepath.Join(f.tlsDir, "tls.crt"), filepath.Join(f.tlsDir, "tls.key"))
		if err != nil {
			return nil, usagef("--workers.tls-dir: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return nil, usagef("--worker.listen: %w", err)
	}
	if f.tlsDir != "" {
		l = tls.NewListener(l, config)
	}
	return l, nil
}

// shardName names a worker in the metrics of a sweep: by its index in a Job, otherwise by host and
// port.
func shardName(address string) string {
	if index := os.Getenv(indexEnv); index != "" {
		return index
	}
	host, err := os.Hostname()
	if err != nil {
		return address
	}
	_, port, _ := net.SplitHostPort(address) // empty if it is no address
	return net.JoinHostPort(host, port)
}
