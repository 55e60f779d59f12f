package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/goccy/go-yaml"

	"nightdesk/config"
)

// TestCompose loads docker-compose.yaml as docker compose would, and checks what could not be seen before somebody runs
// it: variables that are not documented, services without a health check, secrets, images without a version.
func TestCompose(t *testing.T) {
	t.Parallel()
	const path = "../../docker-compose.yaml"
	options, err := cli.NewProjectOptions([]string{path}, cli.WithName("nightdesk"), cli.WithProfiles([]string{"ollama"}),
		cli.WithEnv([]string{"S3_ACCESS_KEY=test-access", "S3_SECRET_KEY=test-secret"}))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{"AWS_ACCESS_KEY_ID": true, "AWS_SECRET_ACCESS_KEY": true}
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
		if service.StopGracePeriod == nil || service.MemLimit == 0 || service.Logging == nil || service.Logging.Options["max-size"] == "" {
			t.Errorf("%s: time to stop %v, memory %d, log %v", name, service.StopGracePeriod, service.MemLimit, service.Logging)
		}
		for _, p := range service.Ports {
			if p.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %s is open to the network", name, p.Published)
			}
		}
		for _, v := range service.Volumes {
			if v.Type == types.VolumeTypeVolume {
				if _, ok := project.Volumes[v.Source]; !ok {
					t.Errorf("%s: volume %s is not a named one", name, v.Source)
				}
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

	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, compose, ok := strings.Cut(string(readme), "\n### Compose\n")
	if !ok {
		t.Fatal("README.md has no section Compose")
	}
	compose, _, _ = strings.Cut(compose, "\n### ")
	var used []string
	for _, m := range regexp.MustCompile(`[^$]\$\{([A-Z0-9_]+)`).FindAllStringSubmatch(string(text), -1) {
		used = append(used, m[1])
	}
	slices.Sort(used)
	for _, variable := range slices.Compact(used) {
		if !strings.Contains(compose, "`"+variable+"`") {
			t.Errorf("README.md, Compose, does not explain %s", variable)
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

// TestComposePassesSettings checks that every setting in .env, and those of a model in the shell, reach the services.
func TestComposePassesSettings(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text, err := os.ReadFile("../../docker-compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	settings := "S3_ACCESS_KEY=test-access\nS3_SECRET_KEY=test-secret\n"
	for _, s := range config.Settings() {
		if s.Env != "LLM_MODEL" {
			settings += s.Env + "=given\n"
		}
	}
	for name, body := range map[string]string{"docker-compose.yaml": string(text), ".env": settings} {
		if err := writeFile(filepath.Join(dir, name), body); err != nil {
			t.Fatal(err)
		}
	}
	options, err := cli.NewProjectOptions([]string{filepath.Join(dir, "docker-compose.yaml")}, cli.WithEnv([]string{"LLM_MODEL=shell"}),
		cli.WithWorkingDirectory(dir), cli.WithEnvFiles(), cli.WithDotEnv)
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"worker", "scheduler", "purge", "serve"} {
		service := project.Services[name]
		for _, s := range config.Settings() {
			if v := service.Environment[s.Env]; v == nil || *v == "" {
				t.Errorf("%s: %s does not reach it", name, s.Env)
			}
		}
		if v := service.Environment["LLM_MODEL"]; v == nil || *v != "shell" {
			t.Errorf("%s: LLM_MODEL of the shell does not reach it", name)
		}
		if service.WorkingDir != "/config" || !slices.ContainsFunc(service.Volumes, func(v types.ServiceVolumeConfig) bool {
			return v.Target == service.WorkingDir && v.ReadOnly
		}) {
			t.Errorf("%s: nightdesk.yaml is not read from a folder of this machine", name)
		}
	}
}
