package simulate

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if os.Getenv(benchServer) != "" {
		serveForBench()
		return
	}
	goleak.VerifyTestMain(m)
}
