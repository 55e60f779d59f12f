package main_test

import (
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"nightdesk/config"
)

const composeFile = "../../docker-compose.yaml"

// composeProject is what docker-compose.yaml may say: any other key is a slip of the pen until it stands here.
type composeProject struct {
	Name     string
	XService any `yaml:"x-service"`
	XDesk    any `yaml:"x-nightdesk"`
	Services map[string]composeService
	Configs  map[string]struct{ Content string }
	Volumes  map[string]any
}

type composeService struct {
	Image           string
	Build           struct{ Context, Dockerfile string }
	Entrypoint      []string
	Command         []string
	Init            bool
	Restart         string
	Profiles        []string
	WorkingDir      string             `yaml:"working_dir"`
	StopGracePeriod string             `yaml:"stop_grace_period"`
	MemLimit        string             `yaml:"mem_limit"`
	Environment     map[string]*string // without a value: that of the shell, or of .env
	EnvFile         []struct {
		Path     string
		Required bool
	} `yaml:"env_file"`
	Volumes     []string
	Ports       []string
	Configs     []struct{ Source, Target string }
	DependsOn   map[string]struct{ Condition string } `yaml:"depends_on"`
	HealthCheck *struct {
		Test              []string
		Interval, Timeout string
		Retries           int
		StartPeriod       string `yaml:"start_period"`
		Disable           bool
	} `yaml:"healthcheck"`
	Logging struct {
		Driver  string
		Options map[string]string
	}
}

// readCompose reads docker-compose.yaml as docker compose does when no variable is set but those that must be.
func readCompose(t *testing.T) (text string, project composeProject) {
	t.Helper()
	data, err := os.ReadFile(composeFile)
	if err != nil {
		t.Fatal(err)
	}
	filled := regexp.MustCompile(`:\?[^{}]*\}`).ReplaceAllString(string(data), ":-given}") // must be set
	variable := regexp.MustCompile(`\$\{[A-Z0-9_]+(?::-([^{}]*))?\}`)
	for variable.MatchString(filled) { // a default may name a variable itself
		filled = variable.ReplaceAllString(filled, "$1")
	}
	// What a merged mapping is overridden with counts as a duplicate for this library.
	err = yaml.UnmarshalWithOptions([]byte(filled), &project, yaml.Strict(), yaml.AllowDuplicateMapKey())
	if err != nil {
		t.Fatalf("read %s: %v", composeFile, err)
	}
	return string(data), project
}

// TestCompose checks what could not be seen in docker-compose.yaml before somebody runs it: variables that are not
// documented, services without a health check, secrets, images without a version.
func TestCompose(t *testing.T) {
	t.Parallel()
	text, project := readCompose(t)
	known := map[string]bool{"AWS_ACCESS_KEY_ID": true, "AWS_SECRET_ACCESS_KEY": true, "AWS_ENDPOINT_URL_S3": true, "AWS_REGION": true}
	for _, s := range config.Settings() {
		known[s.Env] = true
	}
	for name, service := range project.Services {
		if service.Image == "" || strings.HasSuffix(service.Image, ":latest") || !strings.Contains(service.Image, ":") {
			t.Errorf("%s: image %q has no version", name, service.Image)
		}
		if service.HealthCheck == nil {
			t.Errorf("%s has no health check", name)
		}
		if service.StopGracePeriod == "" || service.MemLimit == "" || service.Logging.Options["max-size"] == "" {
			t.Errorf("%s: time to stop %q, memory %q, log %v", name, service.StopGracePeriod, service.MemLimit, service.Logging)
		}
		for _, port := range service.Ports {
			if !strings.HasPrefix(port, "127.0.0.1:") {
				t.Errorf("%s: port %s is open to the network", name, port)
			}
		}
		for _, v := range service.Volumes {
			source, _, _ := strings.Cut(v, ":")
			if _, ok := project.Volumes[source]; !ok && !strings.HasPrefix(source, ".") {
				t.Errorf("%s: volume %s is neither a named one nor a folder of this machine", name, source)
			}
		}
		for other := range service.DependsOn {
			if project.Services[other].HealthCheck == nil {
				t.Errorf("%s waits for %s, which says nothing of its health", name, other)
			}
		}
		for _, c := range service.Configs {
			if project.Configs[c.Source].Content == "" {
				t.Errorf("%s: there is no config %s", name, c.Source)
			}
		}
	}
	for variable := range project.Services["worker"].Environment {
		if !known[variable] {
			t.Errorf("worker: %s is no setting of nightdesk", variable)
		}
	}
	if tag := project.Services["searxng"].Image; !regexp.MustCompile(`:20\d\d\.\d+\.\d+-[0-9a-f]{9}$`).MatchString(tag) {
		t.Errorf("searxng: the tag of %s does not end in a commit", tag)
	}

	compose := section(t, topic(t, "operation"), "Compose")
	var used []string
	for _, m := range regexp.MustCompile(`[^$]\$\{([A-Z0-9_]+)`).FindAllStringSubmatch(text, -1) {
		used = append(used, m[1])
	}
	slices.Sort(used)
	for _, variable := range slices.Compact(used) {
		if !strings.Contains(compose, "`"+variable+"`") {
			t.Errorf("the topic operation does not explain %s", variable)
		}
	}

	var searxng struct {
		Search struct{ Formats []string }
	}
	if err := yaml.Unmarshal([]byte(project.Configs["searxng"].Content), &searxng); err != nil || !slices.Contains(searxng.Search.Formats, "json") {
		t.Errorf("SearXNG does not answer in JSON: %v, %v", searxng, err)
	}
	redis := strings.Join(project.Services["redis"].Command, " ")
	if !strings.Contains(redis, "--appendonly yes") || !strings.Contains(redis, "--maxmemory-policy noeviction") {
		t.Errorf("Redis may lose runs: %s", redis)
	}
}

// TestComposePassesSettings checks that every setting in .env, and those of a model in the shell, reach the services:
// what a service sets without a value comes from the shell or from .env, and a value hides that of .env.
func TestComposePassesSettings(t *testing.T) {
	t.Parallel()
	_, project := readCompose(t)
	for _, name := range []string{"worker", "scheduler", "purge", "serve"} {
		service := project.Services[name]
		if len(service.EnvFile) != 1 || path.Clean(service.EnvFile[0].Path) != ".env" || service.EnvFile[0].Required {
			t.Errorf("%s: .env does not reach it, or must be there: %v", name, service.EnvFile)
		}
		for variable, value := range service.Environment {
			if value != nil && *value == "" {
				t.Errorf("%s: what .env says of %s does not reach it", name, variable)
			}
		}
		if value, ok := service.Environment["LLM_MODEL"]; !ok || value != nil {
			t.Errorf("%s: LLM_MODEL of the shell does not reach it", name)
		}
		if service.WorkingDir != "/config" || !slices.ContainsFunc(service.Volumes, func(v string) bool {
			return strings.HasSuffix(v, ":"+service.WorkingDir+":ro")
		}) {
			t.Errorf("%s: nightdesk.yaml is not read from a folder of this machine", name)
		}
	}
}
