package llm

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"nightdesk/prompts"
)

// dialect is what the server of a model does otherwise than its protocol. It is learned from refusals and kept.
type dialect struct {
	noTemperature bool
	noStream      bool
	noBounds      bool      // the transport works, but not with bounds in the schema
	noThink       bool      // with a think field the model thinks until the limit, as small models do
	tokenField    string    // one of the TokenField... constants; empty: the protocol has only one field
	mostTokens    int       // the largest accepted limit of an answer; 0: unknown
	transport     Transport // of structured answers; empty: none has worked yet
}

// form is the form of one request: the dialect of its server, without a transport for free text, and what concerns
// this request. adapt changes it after a refusal.
type form struct {
	dialect
	limit      int         // tokens of the answer; 0: not sent
	hasBounds  bool        // the prompt has bounds
	think      bool        // the schema includes a think field
	transports []Transport // transports of the protocol, strictest first
	switched   bool        // the token field was changed in this call
	halved     int         // how often the limit was halved in this call
}

// bounds reports whether the schema includes the prompt's bounds.
func (f form) bounds() bool { return f.hasBounds && !f.noBounds }

const maxHalvings = 5 // 12,000 becomes 375

var (
	aboutContext = regexp.MustCompile(`context[ _-]?(length|window|size|limit)|maximum context|` +
		`too many (input )?tokens|(prompt|input)( is)? too long|exceeds? the (maximum|available|model)|reduce the length`)
	aboutLimit = regexp.MustCompile(`max_tokens|max_completion_tokens|max_new_tokens|max_output_tokens|` +
		`completion tokens|in the completion|output tokens`)
	aboutSize = regexp.MustCompile(`too (large|high|big|many)|at most|maximum|exceed|less than|smaller|larger|` +
		`greater|up to|range|<=`)
	aboutUnknown = regexp.MustCompile(`unsupported|not supported|unrecogni[sz]ed|unknown|unexpected|` +
		`extra (input|field)|not permitted|not allowed|does not support|no such|instead`)
	aboutModel = regexp.MustCompile(`model.{0,80}(not found|does not exist|not exist|unknown|not available|no access)|` +
		`(unknown|invalid|no such) model`)
	aboutSchema = regexp.MustCompile(`response_format|response format|json_schema|json schema|structured|grammar|` +
		`guided|tool|function`)
)

// adapt returns the form to try after a refusal. It returns false if no other form can help.
func (f form) adapt(e *ProviderError) (form, bool) {
	words := strings.ToLower(e.Code + " " + e.Type + " " + e.Message)
	refused := e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity
	switch {
	case refused && !f.noTemperature && strings.Contains(words, "temperature"):
		f.noTemperature = true
		return f, true
	case refused && f.limit > 0 && aboutLimit.MatchString(words):
		return f.adaptLimit(words)
	case refused && !f.noStream && strings.Contains(words, "stream"):
		f.noStream = true
		return f, true
	case isContextLength(e):
		return f, false
	case f.transport == "", f.transport == TransportPrompt:
		return f, false
	case isAboutModel(e), e.Type == "not_found_error":
		return f, false
	}
	switch e.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
		http.StatusNotImplemented:
	default: // some servers fail on unknown fields
		if e.Status < 500 || !aboutSchema.MatchString(words) {
			return f, false
		}
	}
	if f.bounds() {
		f.noBounds = true
		return f, true
	}
	f.noBounds = false
	f.transport = f.transports[slices.Index(f.transports, f.transport)+1]
	return f, true
}

// adaptLimit handles a refusal that names the token limit: it switches the field if this one is unknown, and
// otherwise halves the limit.
func (f form) adaptLimit(words string) (form, bool) {
	size := aboutSize.MatchString(words)
	maySwitch := f.tokenField != "" && !f.switched
	if maySwitch && strings.Contains(words, f.tokenField) && (aboutUnknown.MatchString(words) || !size) {
		f.switched = true
		if f.tokenField == TokenFieldCompletion {
			f.tokenField = TokenFieldLegacy
		} else {
			f.tokenField = TokenFieldCompletion
		}
		return f, true
	}
	if !size || f.halved == maxHalvings || f.limit < 2 {
		return f, false
	}
	f.limit /= 2
	f.halved++
	if !aboutContext.MatchString(words) { // the limit itself was refused, not its combination with this prompt
		f.mostTokens = f.limit
	}
	return f, true
}

func isContextLength(e *ProviderError) bool {
	if e.Status == http.StatusRequestEntityTooLarge {
		return true
	}
	if e.Status < 400 || e.Status >= 500 || e.Status == http.StatusTooManyRequests {
		return false
	}
	words := strings.ToLower(e.Code + " " + e.Type + " " + e.Message)
	return strings.Contains(words, "context_length") || strings.Contains(words, "exceed_context") ||
		aboutContext.MatchString(words)
}

// isAboutModel reports whether the error says that the server does not have the model.
func isAboutModel(e *ProviderError) bool {
	return aboutModel.MatchString(strings.ToLower(e.Code + " " + e.Type + " " + e.Message))
}

// learned is the experience with one model of one server. Roles with the same model share it.
type learned struct {
	mu sync.Mutex
	dialect
	density     float64 // actual tokens per estimated token; 0: unknown
	freeDensity float64 // the same for free text
}

// Limits of the correction of token estimates.
const (
	firstDensity   = 1.15 // before a server has reported a count
	leastDensity   = 0.7
	mostDensity    = 3
	densityDecline = 0.02 // step back from a dense prompt, as a share of the difference, for each less dense prompt
)

// tokens returns the estimated tokens of a prompt for the model, rather too many than too few.
func (l *learned) tokens(p prompts.Prompt) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(float64(promptTokens(p))*cmp.Or(*l.densityOf(p), l.density, firstDensity)) + 1
}

// counted updates the density from a server's count for a prompt.
func (l *learned) counted(p prompts.Prompt, tokens int) {
	seen := min(float64(tokens)/float64(promptTokens(p)), mostDensity)
	if seen < leastDensity { // servers with a cache count only new tokens
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	density := l.densityOf(p)
	if *density == 0 || seen > *density {
		*density = seen
		return
	}
	*density += densityDecline * (seen - *density)
}

// densityOf returns the density for this kind of prompt. Some servers do not count a schema, so their counts for
// structured questions are too low for free text.
func (l *learned) densityOf(p prompts.Prompt) *float64 {
	if p.Schema == nil {
		return &l.freeDensity
	}
	return &l.density
}

// form returns the initial form of the next call.
func (l *learned) form(s RoleSettings, p prompts.Prompt, limit int) form {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := form{dialect: l.dialect, limit: limit}
	if s.Provider == ProviderOpenAI {
		f.tokenField = cmp.Or(l.tokenField, s.firstTokenField())
	}
	if l.mostTokens > 0 {
		f.limit = min(f.limit, l.mostTokens)
	}
	if f.transport = ""; len(p.Schema) > 0 {
		f.hasBounds = len(p.Bounds) > 0
		f.think = p.Think && !s.Reasoning && !l.noThink
		f.transports = protocols[s.Provider].transports
		f.transport = cmp.Or(l.transport, f.transports[0])
	}
	return f
}

// worked records the form of an answered call. A transport that has worked once stays. A later refusal
// concerns one schema only, and that call works around it.
func (l *learned) worked(f form) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noTemperature, l.noStream = l.noTemperature || f.noTemperature, l.noStream || f.noStream
	l.mostTokens = cmp.Or(f.mostTokens, l.mostTokens)
	if f.switched {
		l.tokenField = f.tokenField
	}
	l.transport = cmp.Or(l.transport, f.transport)
	if f.hasBounds && f.noBounds && f.transport == l.transport {
		l.noBounds = true
	}
}

// refuses records something that the server of the model does not do.
func (l *learned) refuses(what *bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*what = true
}

// known returns what is known of the dialect.
func (l *learned) known() dialect {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dialect
}
