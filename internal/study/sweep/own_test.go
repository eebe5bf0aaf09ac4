package sweep

import (
	"context"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"synthetic/internal/probe"
	"synthetic/internal/probe/target"
	"synthetic/internal/simulate"
	"synthetic/internal/study/runs"
)

// TestProberCannotSend removes the file descriptors during the first level: that level ends without blaming the
// deployment, and the next is measured when descriptors are available again.
func TestProberCannotSend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var site network
		stop := site.serve(t, "a", simulate.New(quick()))
		defer stop()
		begin := time.Now()
		dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
			if since := time.Since(begin); since > 40*time.Second && since < 80*time.Second {
				return nil, &net.OpError{Op: "dial", Err: syscall.EMFILE}
			}
			return site.Dial(ctx, network, addr)
		}
		plan := small()
		for i := range plan.Variants {
			plan.Variants[i].Target.Connection = target.PerConversation
		}
		run, err := Run(t.Context(), Options{Plan: plan, Dir: t.TempDir(), Dial: dial})
		if err != nil {
			t.Fatal(err)
		}
		first, second := run.Results[0], run.Results[1]
		if n := outcomes(first); n[probe.NotSent] == 0 || n[probe.ConnectError] != 0 {
			t.Errorf("outcomes %v", n)
		}
		if first.State != runs.EndedEarly || !strings.Contains(first.Why, "not_sent") {
			t.Errorf("first level: %s (%s)", first.State, first.Why)
		}
		if v := first.Verdict; v == nil || v.Standing != runs.NotJudged || len(v.Lost) != 0 {
			t.Errorf("the first level is judged: %+v", v)
		}
		if second.State != runs.Complete || !second.Verdict.Met {
			t.Errorf("second level: %s, verdict %+v", second.State, second.Verdict)
		}
	})
}
