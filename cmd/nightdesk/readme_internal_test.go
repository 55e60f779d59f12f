package main

import (
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"nightdesk/cmd/nightdesk/manual"
	"nightdesk/cmd/nightdesk/view"
	"nightdesk/config"
)

// readme returns the README and all topics of the manual as one text.
func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	all := string(text)
	for _, topic := range manual.Topics() {
		if topic.Name != "changelog" { // it names what is gone
			all += "\n" + topic.Text
		}
	}
	return all
}

var (
	shellBlock = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")
	anyBlock   = regexp.MustCompile("(?ms)^```.*?^```$")
	codeSpan   = regexp.MustCompile("`([^`]+)`")
)

// codeSpans returns what stands in backticks in the prose and the tables, with single spaces.
func codeSpans(readme string) []string {
	var out []string
	for _, m := range codeSpan.FindAllStringSubmatch(anyBlock.ReplaceAllString(readme, ""), -1) {
		out = append(out, strings.Join(strings.Fields(strings.ReplaceAll(m[1], `\|`, "|")), " "))
	}
	return out
}

// Every command line of README and manual is valid: commands, flags, number of arguments, and topics of the manual.
func TestReadmeCommands(t *testing.T) {
	t.Parallel()
	text, n := readme(t), 0
	for _, block := range shellBlock.FindAllStringSubmatch(text, -1) {
		for _, words := range shellCommands(block[1]) {
			args, ours := ourArguments(words)
			if !ours {
				continue
			}
			n++
			cmd, rest, err := find(args)
			if err == nil {
				err = cmd.ValidateArgs(rest)
			}
			if err == nil && !cmd.Runnable() {
				err = errors.New("there is no such command")
			}
			if err != nil {
				t.Errorf("%q: %v", strings.Join(words, " "), err)
			}
		}
	}
	for _, span := range codeSpans(text) {
		if rest, ours := strings.CutPrefix(span, "nightdesk "); ours {
			n++
			if _, _, err := find(strings.Fields(rest)); err != nil {
				t.Errorf("`%s`: %v", span, err)
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d command lines were found", n)
	}
}

// Every flag that README and manual name belongs to some command, and every command is in the table of the README.
func TestReadmeFlags(t *testing.T) {
	t.Parallel()
	text := readme(t)
	flags, root := map[string]bool{"help": true}, newRoot()
	var collect func(*cobra.Command)
	collect = func(cmd *cobra.Command) {
		for _, set := range []*pflag.FlagSet{cmd.Flags(), cmd.PersistentFlags()} {
			set.VisitAll(func(f *pflag.Flag) { flags[f.Name] = true })
		}
		for _, sub := range cmd.Commands() {
			collect(sub)
		}
	}
	collect(root)
	for _, span := range codeSpans(text) {
		for _, word := range strings.FieldsFunc(span, func(r rune) bool { return r == ' ' || r == '|' }) {
			name, _, _ := strings.Cut(word, "=")
			if name, ok := strings.CutPrefix(name, "--"); ok && strings.HasPrefix(span, "--") && !flags[name] {
				t.Errorf("`%s`: no command has this flag", span)
			}
		}
	}
	_, table, _ := strings.Cut(text, "\n## Commands\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, cmd := range root.Commands() {
		if !regexp.MustCompile("(?m)^\\|.*`" + cmd.Name() + "[ `]").MatchString(table) {
			t.Errorf("the table of commands lacks %s", cmd.Name())
		}
	}
}

// Every setting and every variable that README and manual name is one of the program, of docker-compose.yaml, or of
// other programs.
func TestReadmeSettings(t *testing.T) {
	t.Parallel()
	text := readme(t)
	compose, err := os.ReadFile("../../docker-compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	variables := map[string]bool{ // that others have named
		"AWS_ACCESS_KEY_ID": true, "AWS_SECRET_ACCESS_KEY": true, "AWS_ENDPOINT_URL_S3": true, "AWS_REGION": true, "SSL_CERT_DIR": true, "OPENAI_API_KEY": true, "OPENAI_BASE_URL": true, "ANTHROPIC_API_KEY": true, "OLLAMA_HOST": true,
		"OTEL_EXPORTER_OTLP_ENDPOINT": true, "OTEL_EXPORTER_OTLP_HEADERS": true, "OTEL_SERVICE_NAME": true,
		"OTEL_TRACES_SAMPLER": true, "OTEL_SDK_DISABLED": true,
		"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": true,
	}
	groups, paths := map[string]bool{}, []string{}
	for _, s := range config.Settings() {
		variables[s.Env] = true
		paths = append(paths, s.Path)
		group, _, _ := strings.Cut(s.Path, ".")
		groups[group] = true
	}
	for _, m := range regexp.MustCompile(`\$\{([A-Z0-9_]+)`).FindAllSubmatch(compose, -1) {
		variables[string(m[1])] = true
	}
	assigned := regexp.MustCompile(`\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)=`)
	for _, block := range shellBlock.FindAllStringSubmatch(text, -1) {
		for _, m := range assigned.FindAllStringSubmatch(block[1], -1) {
			if !variables[m[1]] {
				t.Errorf("%s: nothing reads this variable", m[1])
			}
		}
	}
	variable := regexp.MustCompile(`^([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=|$)`)
	setting := regexp.MustCompile(`^[a-z_]+(\.[a-z_]+)+(\.\*)?$`)
	for _, span := range codeSpans(text) {
		for _, word := range strings.Fields(span) {
			if m := variable.FindStringSubmatch(word); m != nil && !variables[m[1]] && !strings.HasPrefix(m[1], "LLM_ROLE_") {
				t.Errorf("`%s`: nothing reads the variable %s", span, m[1])
			}
			path := strings.TrimSuffix(strings.TrimSuffix(word, ":"), ".*")
			group, _, _ := strings.Cut(path, ".")
			if setting.MatchString(path) && groups[group] && !strings.HasSuffix(path, ".json") && !slices.ContainsFunc(paths, func(p string) bool { return p == path || strings.HasPrefix(p, path+".") }) {
				t.Errorf("`%s`: there is no setting %s", span, path)
			}
		}
	}
}

func newRoot() *cobra.Command {
	return (&program{Console: &view.Console{}, overrides: map[string]string{}}).root()
}

// find returns the command of a command line and its arguments. Placeholders in capitals are taken as they are.
func find(args []string) (*cobra.Command, []string, error) {
	cmd, rest, err := newRoot().Find(args)
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return nil, nil, err
	}
	rest = cmd.Flags().Args()
	if name := strings.Join(rest, " "); cmd.Name() == "help" && name != "" && name != "TOPIC" {
		if _, ok := manual.Find(name); !ok {
			return nil, nil, errors.New("the manual has no such topic")
		}
	}
	return cmd, rest, nil
}

// ourArguments returns the arguments of a command of ours, here or in a container of the compose file.
func ourArguments(words []string) ([]string, bool) {
	for len(words) > 0 && regexp.MustCompile(`^[A-Z_0-9]+=`).MatchString(words[0]) {
		words = words[1:]
	}
	switch {
	case len(words) == 0:
		return nil, false
	case words[0] == "nightdesk" || words[0] == "./nightdesk":
		return words[1:], true
	case strings.HasPrefix(strings.Join(words, " "), "docker compose run "):
		if at := slices.Index(words, "worker"); at > 0 {
			return words[at+1:], true
		}
	}
	return nil, false
}

// shellCommands cuts a script into its commands and these into words, as far as the README needs: quotes, comments,
// substitutions, redirections, and what joins commands.
func shellCommands(script string) [][]string {
	var commands [][]string
	var words []string
	var word strings.Builder
	quote, depth, inWord, redirected := rune(0), 0, false, false
	endWord := func() {
		if inWord && !redirected {
			words = append(words, word.String())
		}
		redirected = redirected && !inWord
		inWord = false
		word.Reset()
	}
	endCommand := func() {
		endWord()
		if len(words) > 0 {
			commands = append(commands, words)
		}
		words, redirected = nil, false
	}
	comment := false
	for _, r := range strings.ReplaceAll(script, "\\\n", " ") {
		switch {
		case comment:
			if comment = r != '\n'; !comment {
				endCommand()
			}
		case quote != 0:
			if r == quote && depth == 0 {
				quote = 0
				continue
			}
			depth += strings.Count(string(r), "(") - strings.Count(string(r), ")")
			word.WriteRune(r)
		case r == '\'' || r == '"':
			quote, inWord, depth = r, true, 0
		case r == '(':
			inWord = true
			depth++
			word.WriteRune(r)
		case depth > 0:
			depth -= strings.Count(string(r), ")")
			word.WriteRune(r)
		case r == '#' && !inWord:
			comment = true
		case r == ' ' || r == '\t':
			endWord()
		case r == '<' || r == '>':
			endWord()
			redirected = true
		case strings.ContainsRune("|&;\n", r):
			endCommand()
		default:
			inWord = true
			word.WriteRune(r)
		}
	}
	endCommand()
	return commands
}
