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

// form is the shape in which a request is put to one model: what differs between servers that all speak "the same"
// format. adapt changes it after a refusal; learned keeps what worked.
type form struct {
	transport     Transport // of a structured question; empty for free text
	noTemperature bool
	tokenField    string // one of the TokenField... constants, not auto
	limit         int    // tokens of the answer; 0 = not sent
	bounds        bool   // the schema that is sent has the prompt's bounds
	think         bool   // and a think field
	stream        bool   // the answer is asked for piece by piece
	noStream      bool   // that was refused in this call

	transports     []Transport // that the protocol has, the strictest first
	fixedTransport bool        // configured: never changed
	fixedField     bool
	hasBounds      bool // the prompt has some
	fell           bool // the transport was changed in this call
	switched       bool // the token field was changed in this call
	halved         int  // times the limit was halved in this call
	tooLarge       bool // the limit was refused as such, not because this prompt leaves too little of the window
}

const maxHalvings = 5 // 12,000 becomes 375

var (
	aboutContext = regexp.MustCompile(`context[ _-]?(length|window|size|limit)|maximum context|too many (input )?tokens|(prompt|input)( is)? too long|exceeds? the (maximum|available|model)|reduce the length`)
	aboutLimit   = regexp.MustCompile(`max_tokens|max_completion_tokens|max_new_tokens|max_output_tokens|completion tokens|in the completion|output tokens`)
	aboutSize    = regexp.MustCompile(`too (large|high|big|many)|at most|maximum|exceed|less than|smaller|larger|greater|up to|range|<=`)
	aboutUnknown = regexp.MustCompile(`unsupported|not supported|unrecogni[sz]ed|unknown|unexpected|extra (input|field)|not permitted|not allowed|does not support|no such|instead`)
	aboutModel   = regexp.MustCompile(`model.{0,80}(not found|does not exist|not exist|unknown|not available|no access)|(unknown|invalid|no such) model`)
	aboutSchema  = regexp.MustCompile(`response_format|response format|json_schema|json schema|structured|grammar|guided|tool|function`)
)

// adapt returns the form to try next after a refusal, and false when no other form can help.
func (f form) adapt(e *ProviderError) (form, bool) {
	words := strings.ToLower(e.Code + " " + e.Type + " " + e.Message)
	refused := e.Status == http.StatusBadRequest || e.Status == http.StatusUnprocessableEntity
	switch {
	case refused && !f.noTemperature && strings.Contains(words, "temperature"):
		f.noTemperature = true
		return f, true
	case refused && f.limit > 0 && aboutLimit.MatchString(words):
		return f.adaptLimit(words)
	case refused && f.stream && strings.Contains(words, "stream"):
		f.stream, f.noStream = false, true
		return f, true
	case isContextLength(e):
		return f, false
	case f.transport == "", f.transport == TransportPrompt, f.fixedTransport && !f.bounds:
		return f, false
	case isAboutModel(e), e.Type == "not_found_error":
		return f, false
	}
	switch e.Status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
		http.StatusNotImplemented:
	default: // some servers fail on what they do not know
		if e.Status < 500 || !aboutSchema.MatchString(words) {
			return f, false
		}
	}
	if f.bounds {
		f.bounds = false
		return f, true
	}
	f.fell, f.bounds = true, f.hasBounds
	f.transport = f.transports[slices.Index(f.transports, f.transport)+1]
	return f, true
}

// adaptLimit answers a refusal that names the token limit: the other field when this one is unknown, else half of it.
func (f form) adaptLimit(words string) (form, bool) {
	size := aboutSize.MatchString(words)
	maySwitch := !f.fixedField && !f.switched
	aboutField := strings.Contains(words, f.tokenField) && (aboutUnknown.MatchString(words) || !size)
	if maySwitch && aboutField {
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
	f.tooLarge = !aboutContext.MatchString(words)
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

// isAboutModel reports whether a server has no such model.
func isAboutModel(e *ProviderError) bool {
	return aboutModel.MatchString(strings.ToLower(e.Code + " " + e.Type + " " + e.Message))
}

// learned is what calls have found out about one model of one server. Roles that use the same model share it.
type learned struct {
	mu            sync.Mutex
	noTemperature bool
	tokenField    string
	limit         int       // the largest that the server takes; 0 = not known
	transport     Transport // empty = none has worked yet
	noBounds      bool      // the transport works, but not with bounds in the schema
	noThink       bool      // the model thinks until the limit when it is given a field for it, as small ones do
	noTools       bool      // the server refuses questions with tools
	noStream      bool      // the server refuses to stream
	density       float64   // tokens that its tokenizer makes of one that is estimated; 0 = not known
	freeDensity   float64   // the same for free texts
}

// How far estimates of tokens are trusted.
const (
	firstDensity   = 1.15 // before a server has told a count
	leastDensity   = 0.7
	mostDensity    = 3
	densityDecline = 0.02 // of the way back from a dense prompt, with each one that is less dense
)

// tokens returns how many tokens the model makes of a prompt, rather too many than too few.
func (l *learned) tokens(p prompts.Prompt) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(float64(promptTokens(p))*cmp.Or(*l.densityOf(p), l.density, firstDensity)) + 1
}

// counted keeps what a server has counted for a prompt.
func (l *learned) counted(p prompts.Prompt, tokens int) {
	seen := min(float64(tokens)/float64(promptTokens(p)), mostDensity)
	if seen < leastDensity { // servers that answer from a cache count what was new
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

// densityOf returns the density of prompts of this kind: some servers do not count a schema, so that what they count
// for structured questions says too little of free texts.
func (l *learned) densityOf(p prompts.Prompt) *float64 {
	if p.Schema == nil {
		return &l.freeDensity
	}
	return &l.density
}

// form returns the form in which the next call begins.
func (l *learned) form(s RoleSettings, p prompts.Prompt, limit int) form {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := form{
		noTemperature: l.noTemperature,
		tokenField:    cmp.Or(s.TokenField, l.tokenField, s.firstTokenField()),
		fixedField:    s.TokenField != TokenFieldAuto,
		limit:         limit,
		stream:        !l.noStream,
	}
	if l.limit > 0 {
		f.limit = min(f.limit, l.limit)
	}
	if len(p.Schema) > 0 {
		f.hasBounds = len(p.Bounds) > 0
		f.bounds = f.hasBounds && !l.noBounds
		f.think = p.Think && !s.Reasoning && !l.noThink
		f.transports = protocols[s.Provider].transports
		f.transport = Transport(cmp.Or(string(s.Transport), string(l.transport), string(f.transports[0])))
		f.fixedTransport = s.Transport != TransportAuto
	}
	return f
}

// worked keeps what the form of an answered call shows. A transport that has worked once stays: a later refusal is
// about that one schema and is worked around in that one call.
func (l *learned) worked(f form) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noTemperature = l.noTemperature || f.noTemperature
	l.noStream = l.noStream || f.noStream
	if f.switched {
		l.tokenField = f.tokenField
	}
	if f.tooLarge {
		l.limit = f.limit
	}
	if f.transport != "" && !f.fixedTransport && l.transport == "" {
		l.transport = f.transport
	}
	if f.hasBounds && !f.bounds && (f.fixedTransport || f.transport == l.transport) {
		l.noBounds = true
	}
}

// lostInThought keeps that an answer was cut before its think field ended. The next ones come without the field.
func (l *learned) lostInThought() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noThink = true
}

// found returns the transport that works, empty when no structured question has been answered yet.
func (l *learned) found() Transport {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.transport
}
