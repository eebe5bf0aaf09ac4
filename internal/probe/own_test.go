package probe_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	promconfig "github.com/prometheus/common/config"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/probe/wire"
)

// TestNothingIsSentForWantOfOurOwn checks failures that only the prober can cause. They must not
// count against the target.
func TestNothingIsSentForWantOfOurOwn(t *testing.T) {
	failing := func(err error) func(*probe.Options) {
		return func(o *probe.Options) {
			o.Dial = func(context.Context, string, string) (net.Conn, error) { return nil, err }
		}
	}
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte(" \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	dialing := func(e syscall.Errno) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("socket", e)}
	}
	for name, tc := range map[string]struct {
		change func(*probe.Options)
		err    string
	}{
		"no file descriptor":           {failing(dialing(syscall.EMFILE)), "too many open files"},
		"no file descriptor anywhere":  {failing(dialing(syscall.ENFILE)), "too many open files in system"},
		"no local port":                {failing(dialing(syscall.EADDRNOTAVAIL)), "cannot assign requested address"},
		"no buffer":                    {failing(dialing(syscall.ENOBUFS)), "no buffer space"},
		"no memory":                    {failing(dialing(syscall.ENOMEM)), "cannot allocate memory"},
		"no descriptor for the lookup": {failing(&net.DNSError{Name: "h", Err: "dial udp: socket: too many open files"}), "too many open files"},
		"no room":                      {failing(fmt.Errorf("dialing: %w", wire.ErrNoRoom)), wire.ErrNoRoom.Error()},
		"key file missing":             {func(o *probe.Options) { o.Target.Key = target.Credential{File: missing} }, "missing"},
		"key file empty":               {func(o *probe.Options) { o.Target.Key = target.Credential{File: empty} }, "empty"},
		"key variable unset":           {func(o *probe.Options) { o.Target.Key = target.Credential{Env: "PROBE_TEST_UNSET"} }, "PROBE_TEST_UNSET"},
		"credentials file empty": {func(o *probe.Options) {
			o.Target.HTTP.Authorization = &promconfig.Authorization{Type: "Bearer", CredentialsFile: empty}
		}, "empty"},
		"password file empty": {func(o *probe.Options) {
			o.Target.HTTP.BasicAuth = &promconfig.BasicAuth{Username: "u", PasswordFile: empty}
		}, "empty"},
		"header file empty": {func(o *probe.Options) {
			o.Target.HTTP.HTTPHeaders = &promconfig.Headers{Headers: map[string]promconfig.Header{"X-Key": {Files: []string{empty}}}}
		}, "empty"},
		"certificate authority missing": {func(o *probe.Options) {
			o.Target.BaseURL = strings.Replace(o.Target.BaseURL, "http:", "https:", 1)
			o.Target.HTTP.TLSConfig.CAFile = missing
		}, "missing"},
	} {
		t.Run(name, func(t *testing.T) {
			s := play(t, &scripted{})
			o := options(s.addr)
			tc.change(&o)
			r := once(t, o)
			if r.Outcome != probe.NotSent || !strings.Contains(r.Err, "nothing was sent") || !strings.Contains(r.Err, tc.err) {
				t.Errorf("outcome %s (%s), want %s with %q", r.Outcome, r.Err, probe.NotSent, tc.err)
			}
			if s.count() != 0 {
				t.Errorf("%d requests came", s.count())
			}
		})
	}
}

// TestTargetsFaultsAreNoOwnFaults checks that failures of the peer and the network count against
// the deployment.
func TestTargetsFaultsAreNoOwnFaults(t *testing.T) {
	for _, err := range []error{
		syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ETIMEDOUT,
		&net.DNSError{Name: "h", Err: "no such host", IsNotFound: true}, fs.ErrClosed, errors.New("else"),
	} {
		if wire.IsLocal(&wire.Error{Step: wire.StepConnect, Err: err}) {
			t.Errorf("%v counts as the prober's own fault", err)
		}
	}
}

// TestOutcomesAreSorted checks that each outcome has one kind, and that no fault of the prober
// counts as a failure.
func TestOutcomesAreSorted(t *testing.T) {
	sorted := slices.Concat([]probe.Outcome{probe.Success}, probe.Failures(), probe.OwnFaults(), []probe.Outcome{probe.Canceled, probe.UserCanceled})
	if !slices.Equal(sorted, probe.Outcomes()) {
		t.Errorf("the kinds make %v, want %v", sorted, probe.Outcomes())
	}
	for _, o := range probe.OwnFaults() {
		if o.Failed() || o.Busy() || !o.Own() || !o.OwnFault() {
			t.Errorf("%s: failed %v, busy %v, own %v, own fault %v", o, o.Failed(), o.Busy(), o.Own(), o.OwnFault())
		}
	}
	if probe.Canceled.Failed() || !probe.Canceled.Own() || probe.Canceled.OwnFault() {
		t.Error("our own shutdown is no fault, and none of the deployment's")
	}
}
