package verification_test

import (
	"flag"
	"testing"
	"time"

	"nightdesk/pipeline/citation/verification"
	"nightdesk/pipeline/lineartest"
	"nightdesk/topicqueue/scaletest"
)

var hostileSize = flag.Int("hostile.size", scaletest.Of(8_000, 32_000), "bytes of each hostile text; from 1,000,000 on, none may take the processor more than 2 seconds for 1 MB")

// TestVerifyHostile: a text that is made to be slow takes no longer than its length allows: 16 times the text takes
// about 16 times the processor's time, and not 256 times.
func TestVerifyHostile(t *testing.T) {
	scaletest.Slow(t)
	t.Parallel()
	verify := func(text string) { verification.Verify(shelf(), text, false) }
	large := hostile(*hostileSize)
	for name, in := range hostile(*hostileSize / 16) {
		took := lineartest.Check(t, name, in, large[name], verify)
		if *hostileSize >= 1_000_000 {
			t.Logf("%-16s %8d bytes %s", name, len(large[name]), took)
			if perMB := took * 1_000_000 / time.Duration(len(large[name])); perMB > 2*time.Second {
				t.Errorf("%s: %s for 1 MB", name, perMB)
			}
		}
	}
}
