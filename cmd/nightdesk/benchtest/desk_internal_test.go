package benchtest

import "testing"

// A measurement runs without the settings of the shell, but with its other variables.
func TestAffects(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]bool{
		"NIGHTDESK_LOG_LEVEL=debug": true, "LLM_MODEL=x": true, "LLM_WRITER_MODEL=x": true, "SPEECH_MODEL=x": true,
		"SEARXNG_URL=http://x": true, "EXA_API_KEY=k": true, "OPENAI_API_KEY=k": true, "AWS_PROFILE=p": true,
		"REDIS_URL=redis://x": true, "PATH=/bin": false, "HOME=/root": false, "GOMAXPROCS=2": false,
	} {
		if got := affects(variable); got != want {
			t.Errorf("%s: %v", variable, got)
		}
	}
}
