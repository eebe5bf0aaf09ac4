package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"

	"synthetic/internal/load"
	"synthetic/internal/sidecar/httplimit"

	"synthetic/internal/study/sweep"
)

// tokenEnv has the barrier's token where no file does.
const tokenEnv = "SYNTHETIC_BARRIER_TOKEN"

// shardFlags say which part of a sweep this process is, and where the others are.
// All shards may be given the same flags, as the pods of a Job are.
type shardFlags struct {
	count, index     int
	url, listen      string
	tokenFile        string
	cert, key, trust string
	wait             time.Duration
}

func (f *shardFlags) add(c *kingpin.CmdClause) {
	c.Flag("shards", "How many processes carry the load together; each takes its part of every level.").PlaceHolder("N").Default("1").Envar("SYNTHETIC_SHARDS").IntVar(&f.count)
	c.Flag("shard", "Which of them this is, from 0. An Indexed Job of Kubernetes says so itself.").PlaceHolder("I").Default("-1").Envar("JOB_COMPLETION_INDEX").IntVar(&f.index)
	c.Flag("barrier", "Where shard 0 is, for the others.").PlaceHolder("URL").StringVar(&f.url)
	c.Flag("barrier.listen", "Where shard 0 waits for the others.").PlaceHolder("ADDRESS").StringVar(&f.listen)
	c.Flag("barrier.token-file", "File with the token that all shards share; or the environment variable "+tokenEnv+". Without one shard 0 listens on loopback alone.").PlaceHolder("FILE").StringVar(&f.tokenFile)
	c.Flag("barrier.tls-cert", "Certificate by which shard 0 serves the barrier over TLS.").PlaceHolder("FILE").StringVar(&f.cert)
	c.Flag("barrier.tls-key", "Its key.").PlaceHolder("FILE").StringVar(&f.key)
	c.Flag("barrier.tls-ca", "Authorities that the others trust for it; the system's by default.").PlaceHolder("FILE").StringVar(&f.trust)
	c.Flag("barrier.wait", "How long shards wait for each other before a level.").Default("5m").DurationVar(&f.wait)
}

// part is which part of the load this process carries.
func (f *shardFlags) part() (load.Shard, error) {
	switch {
	case f.count == 1:
		return load.Shard{}, nil // whatever a Job's index says
	case f.count < 1:
		return load.Shard{}, usagef("--shards=%d: want 1 or more", f.count)
	case f.index < 0:
		return load.Shard{}, usagef("--shards=%d: say which one this is by --shard=0 to %d, or JOB_COMPLETION_INDEX", f.count, f.count-1)
	case f.index >= f.count:
		return load.Shard{}, usagef("--shard=%d: --shards=%d are 0 to %d", f.index, f.count, f.count-1)
	case f.index == 0 && f.listen == "":
		return load.Shard{}, usagef("shard 0 needs --barrier.listen, where the others find it (for example :9878)")
	case f.index > 0 && f.url == "":
		return load.Shard{}, usagef("shard %d needs --barrier, the URL of shard 0 (for example http://sweep-0.sweep:9878)", f.index)
	}
	return load.Shard{Index: f.index, Count: f.count}, nil
}

// directory is that of this shard, in the one of the sweep.
func (f *shardFlags) directory(dir string) (string, error) {
	if f.count == 1 {
		return dir, nil
	}
	if dir == "" {
		return "", usagef("--shards: name the directory of the results, --output.dir=DIR; each shard has DIR/shard-I")
	}
	return filepath.Join(dir, fmt.Sprintf("shard-%d", f.index)), nil
}

// join completes the options of a shard; leave ends what it began.
func (f *shardFlags) join(o *sweep.Options, logger *slog.Logger) (leave func(), err error) {
	if o.Part, err = f.part(); err != nil || o.Part.Whole() {
		return func() {}, err
	}
	for _, v := range o.Plan.Variants {
		if v.Preset != "" {
			return nil, usagef("variant %q is the simulated deployment preset:%s, of which every shard would have its own; run \"synthetic simulate\" and name its URL", v.Name, v.Preset)
		}
	}
	o.Patience = f.wait
	token, err := f.token()
	if err != nil {
		return nil, err
	}
	if o.Part.Index == 0 {
		o.Lead = sweep.NewLead(o.Hello(), token)
		o.Lead.Logger = logger
		return f.serve(o.Lead, token != "", logger)
	}
	u, err := url.Parse(f.url)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" { // a secret is not said again
		return nil, usagef("--barrier: want the URL of shard 0 without user and query, for example http://sweep-0.sweep:9878; the token is given by --barrier.token-file")
	}
	transport, err := f.transport()
	if err != nil {
		return nil, err
	}
	o.Follow = sweep.NewClient(o.Hello(), f.url, token, transport)
	o.Follow.Logger = logger
	return transport.CloseIdleConnections, nil
}

func (f *shardFlags) token() (string, error) {
	if f.tokenFile == "" {
		return strings.TrimSpace(os.Getenv(tokenEnv)), nil
	}
	data, err := os.ReadFile(f.tokenFile)
	token := strings.TrimSpace(string(data))
	switch {
	case err != nil:
		return "", usagef("--barrier.token-file: %w", err)
	case token == "":
		return "", usagef("--barrier.token-file=%s: the file is empty; write a long random token into it", f.tokenFile)
	}
	return token, nil
}

// transport goes to shard 0 directly: a proxy of the environment is for deployments.
func (f *shardFlags) transport() (*http.Transport, error) {
	t := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, IdleConnTimeout: time.Minute}
	if f.trust == "" {
		return t, nil
	}
	data, err := os.ReadFile(f.trust)
	if err != nil {
		return nil, usagef("--barrier.tls-ca: %w", err)
	}
	t.TLSClientConfig.RootCAs = x509.NewCertPool()
	if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(data) {
		return nil, usagef("--barrier.tls-ca=%s: there is no certificate in PEM in it", f.trust)
	}
	return t, nil
}

// serve opens the barrier; what it returns closes it.
func (f *shardFlags) serve(lead *sweep.Lead, secret bool, logger *slog.Logger) (func(), error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if (f.cert == "") != (f.key == "") {
		return nil, usagef("--barrier.tls-cert and --barrier.tls-key go together")
	}
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return nil, usagef("--barrier.tls-cert, --barrier.tls-key: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return nil, usagef("--barrier.listen: %w", err)
	}
	if at, err := netip.ParseAddrPort(l.Addr().String()); !secret && (err != nil || !at.Addr().IsLoopback()) {
		_ = l.Close()
		return nil, usagef("--barrier.listen=%s: others than this machine can reach it; give all shards a token, --barrier.token-file or %s", f.listen, tokenEnv)
	}
	where := l.Addr().String()
	connections := httplimit.NewConnections()
	server := httplimit.NewServer(nil, connections, logger)
	server.Handler = lead // which bounds bodies itself: counts are larger than what a door lets in
	if l = connections.Limit(l); f.cert != "" {
		l = tls.NewListener(l, config)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("The barrier cannot be served any more", "err", err)
		}
	}()
	logger.Info("Waiting for the other shards", "address", where, "shards", f.count, "tls", f.cert != "")
	return func() {
		_ = server.Close()
		<-done
	}, nil
}
