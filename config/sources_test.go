package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"nightdesk/config"
)

// No tool of tools.file can have the name of a built-in tool, which would be called instead.
func TestBuiltInToolNamesAreReserved(t *testing.T) {
	t.Parallel()
	if !slices.Contains(config.BuiltInToolNames(), "report_evidence") {
		t.Error(config.BuiltInToolNames())
	}
	for _, name := range config.BuiltInToolNames() {
		file := filepath.Join(t.TempDir(), "tools.json")
		server, tool, _ := strings.Cut(name, "_")
		text := `{"mcpServers": {"` + server + `": {"tools": ["` + tool + `"], "command": "true"}}}`
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := tryLoad(t, "", nil, map[string]string{"tools.file": file})
		if err == nil || !strings.Contains(err.Error(), "the tool name "+name+" is already in use") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A tool that no kind of source allows would be lost as soon as a user names kinds.
func TestEveryToolHasASourceKind(t *testing.T) {
	t.Parallel()
	for _, setting := range config.Settings() {
		name, ok := strings.CutPrefix(setting.Path, "researching.enable_")
		if ok && len(config.KindsOf(name)) == 0 {
			t.Errorf("no kind of source allows %s", name)
		}
	}
}
