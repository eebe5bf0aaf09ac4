package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
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
	"synthetic/internal/redact"
	"synthetic/internal/sidecar/httplimit"
	"synthetic/internal/study/sweep"
)

// tokenEnv is the environment variable with the barrier's token, used without a token file.
const tokenEnv = "SYNTHETIC_BARRIER_TOKEN"

// shardFlags say which shard of a sweep this process is, and where the others are. All
// shards can have the same flags, like the pods of a Job.
type shardFlags struct {
	count, index      int
	url, listen       string
	tokenFile, tlsDir string
	wait              time.Duration
}

func (f *shardFlags) add(c *kingpin.CmdClause) {
	c.Flag("shards", "Number of processes that share the load of each level.").PlaceHolder("N").Default("1").Envar("SYNTHETIC_SHARDS").IntVar(&f.count)
	c.Flag("shard", "Number of this process, from 0.").PlaceHolder("I").Default("-1").Envar("JOB_COMPLETION_INDEX").IntVar(&f.index)
	c.Flag("barrier", "URL of shard 0, for all other shards.").PlaceHolder("URL").StringVar(&f.url)
	c.Flag("barrier.listen", "Address on which shard 0 serves the barrier, for example :9878.").PlaceHolder("ADDRESS").StringVar(&f.listen)
	c.Flag("barrier.token-file", "File with a token that all shards share. The environment variable "+tokenEnv+" can hold the token instead. Without a token, shard 0 has to listen on loopback.").PlaceHolder("FILE").StringVar(&f.tokenFile)
	c.Flag("barrier.tls-dir", "Directory for TLS: shard 0 serves the barrier with tls.crt and tls.key, and the other shards trust ca.crt, or the system's authorities if it is missing.").PlaceHolder("DIR").StringVar(&f.tlsDir)
	c.Flag("barrier.wait", "How long shards wait for each other before each level.").Default("5m").DurationVar(&f.wait)
}

// part returns the part of the load that this process carries.
func (f *shardFlags) part() (load.Shard, error) {
	switch {
	case f.count == 1:
		return load.Shard{}, nil // the index of a Job does not matter
	case f.count < 1:
		return load.Shard{}, usagef("--shards=%d: want 1 or more", f.count)
	case f.index < 0:
		return load.Shard{}, usagef("--shards=%d: number this process with --shard=0 to %d, or with JOB_COMPLETION_INDEX", f.count, f.count-1)
	case f.index >= f.count:
		return load.Shard{}, usagef("--shard=%d: the shards of --shards=%d are 0 to %d", f.index, f.count, f.count-1)
	case f.index == 0 && f.listen == "":
		return load.Shard{}, usagef("shard 0 needs --barrier.listen, the address for the other shards (for example :9878)")
	case f.index > 0 && f.url == "":
		return load.Shard{}, usagef("shard %d needs --barrier, the URL of shard 0 (for example http://sweep-0.sweep:9878)", f.index)
	}
	return load.Shard{Index: f.index, Count: f.count}, nil
}

// directory returns the directory of this shard in the directory of the sweep.
func (f *shardFlags) directory(dir string) (string, error) {
	if f.count == 1 {
		return dir, nil
	}
	if dir == "" {
		return "", usagef("--shards: name the directory of the results with --output.dir=DIR; each shard writes DIR/shard-I")
	}
	return filepath.Join(dir, fmt.Sprintf("shard-%d", f.index)), nil
}

// join completes the options of a shard and connects it to the others until leave is called.
func (f *shardFlags) join(o *sweep.Options, logger *slog.Logger) (leave func(), err error) {
	if o.Part, err = f.part(); err != nil || o.Part.Whole() {
		return func() {}, err
	}
	for _, v := range o.Plan.Variants {
		if v.Preset != "" {
			return nil, usagef("variant %q is preset:%s, and every shard would simulate its own deployment; run \"synthetic simulate\" and name its URL", v.Name, v.Preset)
		}
	}
	o.Patience = f.wait
	token, err := f.token()
	if err != nil {
		return nil, err
	}
	redact.Key(token)
	if o.Part.Index == 0 {
		o.Lead = sweep.NewLead(o.Hello(), token)
		o.Lead.Logger = logger
		return f.serve(o.Lead, token != "", logger)
	}
	u, err := url.Parse(f.url)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" { // do not print it: it may contain a secret
		return nil, usagef("--barrier: want the URL of shard 0 without user and query, for example http://sweep-0.sweep:9878; give the token with --barrier.token-file")
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

// transport reaches shard 0 without the proxy of the environment, which is for deployments.
func (f *shardFlags) transport() (*http.Transport, error) {
	t := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, IdleConnTimeout: time.Minute}
	if f.tlsDir == "" {
		return t, nil
	}
	data, err := os.ReadFile(filepath.Join(f.tlsDir, "ca.crt"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return t, nil
	case err != nil:
		return nil, usagef("--barrier.tls-dir: %w", err)
	}
	t.TLSClientConfig.RootCAs = x509.NewCertPool()
	if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(data) {
		return nil, usagef("--barrier.tls-dir=%s: ca.crt has no certificate in PEM", f.tlsDir)
	}
	return t, nil
}

// serve serves the barrier until the returned function is called.
func (f *shardFlags) serve(lead *sweep.Lead, hasToken bool, logger *slog.Logger) (func(), error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.tlsDir != "" {
		pair, err := tls.LoadX509KeyPair(filepath.Join(f.tlsDir, "tls.crt"), filepath.Join(f.tlsDir, "tls.key"))
		if err != nil {
			return nil, usagef("--barrier.tls-dir: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	l, err := net.Listen("tcp", f.listen)
	if err != nil {
		return nil, usagef("--barrier.listen: %w", err)
	}
	address := l.Addr().String()
	if ip, err := netip.ParseAddrPort(address); !hasToken && (err != nil || !ip.Addr().IsLoopback()) {
		_ = l.Close()
		return nil, usagef("--barrier.listen=%s: other machines can reach this address; give all shards a token with --barrier.token-file or %s", f.listen, tokenEnv)
	}
	connections := httplimit.NewConnections()
	server := httplimit.NewServer(nil, connections, logger)
	server.Handler = lead // it limits request bodies itself, to a larger size
	if l = connections.Limit(l); f.tlsDir != "" {
		l = tls.NewListener(l, config)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("Serving the barrier failed", "err", err)
		}
	}()
	logger.Info("Waiting for the other shards", "address", address, "shards", f.count, "tls", f.tlsDir != "")
	return func() {
		_ = server.Close()
		<-done
	}, nil
}
