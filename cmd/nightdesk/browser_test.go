package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"nightdesk/topicqueue/scaletest"
)

// axeScript is axe-core, which judges pages by the rules of WCAG; .ci/run puts it there.
const axeScript = ".cache/axe-core-4.14.1/axe.min.js"

// browser is Chromium, told what to do by the WebDriver protocol: https://www.w3.org/TR/webdriver2/.
type browser struct {
	t       *testing.T
	session string // address, without a slash at its end
	axe     string // the script
}

// newBrowser starts Chromium with an empty profile.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	axe, err := os.ReadFile(filepath.Join(home, axeScript))
	_, missing := exec.LookPath("chromedriver")
	if err != nil || missing != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("pages are not looked at: %v, %v", err, missing)
		}
		t.Skip("needs chromedriver, and axe-core as .ci/run installs it")
	}
	driver := exec.Command("chromedriver", "--port=0")
	driver.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := driver.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := driver.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-driver.Process.Pid, syscall.SIGKILL) // with its browsers
		_ = driver.Wait()
	})
	port := ""
	for lines := bufio.NewScanner(out); port == "" && lines.Scan(); {
		if m := regexp.MustCompile(`started successfully on port (\d+)`).FindStringSubmatch(lines.Text()); m != nil {
			port = m[1]
		}
	}
	if port == "" {
		t.Fatal("chromedriver does not say that it has started")
	}
	b := &browser{t: t, session: "http://127.0.0.1:" + port, axe: string(axe)}
	var created struct{ SessionID string }
	options := map[string]any{"args": []string{"--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
		"--user-data-dir=" + t.TempDir()}}
	b.post("/session", map[string]any{"capabilities": map[string]any{
		"alwaysMatch": map[string]any{"goog:chromeOptions": options}}}, &created)
	b.session += "/session/" + created.SessionID
	t.Cleanup(func() { // before its folder is removed
		if req, err := http.NewRequest(http.MethodDelete, b.session, nil); err == nil {
			if r, err := http.DefaultClient.Do(req); err == nil {
				r.Body.Close()
			}
		}
	})
	return b
}

// ask sends a command and reads its value. failed is the error that WebDriver names, such as "no such element".
func (b *browser) ask(path string, body, value any) (failed string) {
	b.t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		b.t.Fatal(err)
	}
	client := http.Client{Timeout: scaletest.Patience}
	r, err := client.Post(b.session+path, "application/json", bytes.NewReader(text))
	if err != nil {
		b.t.Fatal(err)
	}
	defer r.Body.Close()
	var answer struct{ Value json.RawMessage }
	if err := json.NewDecoder(r.Body).Decode(&answer); err != nil {
		b.t.Fatalf("chromedriver: %s, %v", r.Status, err)
	}
	if r.StatusCode != http.StatusOK {
		var fault struct{ Error, Message string }
		_ = json.Unmarshal(answer.Value, &fault)
		return fault.Error + ": " + fault.Message
	}
	if value != nil {
		if err := json.Unmarshal(answer.Value, value); err != nil {
			b.t.Fatalf("chromedriver: %s: %v", answer.Value, err)
		}
	}
	return ""
}

func (b *browser) post(path string, body, value any) {
	b.t.Helper()
	if failed := b.ask(path, body, value); failed != "" {
		b.t.Fatalf("%s: %s\n%s", path, failed, b.text())
	}
}

func (b *browser) open(url string) {
	b.t.Helper()
	b.post("/url", map[string]string{"url": url}, nil)
}

// script runs the body of a function in the page.
func (b *browser) script(body string, value any) {
	b.t.Helper()
	b.post("/execute/sync", map[string]any{"script": body, "args": []any{}}, value)
}

// text returns the address of the page and what it shows.
func (b *browser) text() (shown string) {
	b.t.Helper()
	look := "return location.href + '\\n' + document.body.innerText"
	b.ask("/execute/sync", map[string]any{"script": look, "args": []any{}}, &shown)
	return shown
}

// shows waits until the page shows a text, or has it in its address; again, unless it is nil, brings a page anew that
// does not. A page that is only on its way must be waited for first: again would bring the one before it.
func (b *browser) shows(want string, again func()) {
	b.t.Helper()
	for deadline := time.Now().Add(scaletest.Patience); !strings.Contains(b.text(), want); {
		if time.Now().After(deadline) {
			b.t.Fatalf("the page does not show %q:\n%s", want, b.text())
		}
		time.Sleep(50 * time.Millisecond)
		if again != nil {
			again()
		}
	}
}

// find returns the address of the first element by a strategy of WebDriver: "css selector", "link text", "xpath".
func (b *browser) find(by, what string) string {
	b.t.Helper()
	var element map[string]string
	wanted := map[string]string{"using": by, "value": what}
	for deadline := time.Now().Add(scaletest.Patience); b.ask("/element", wanted, &element) != ""; {
		if time.Now().After(deadline) {
			b.t.Fatalf("the page has no %s:\n%s", what, b.text())
		}
		time.Sleep(50 * time.Millisecond)
	}
	for _, id := range element {
		return "/element/" + id
	}
	b.t.Fatal("an element without a name")
	return ""
}

func (b *browser) click(by, what string) {
	b.t.Helper()
	b.post(b.find(by, what)+"/click", map[string]any{}, nil)
}

// press clicks the first button that has this text.
func (b *browser) press(text string) {
	b.t.Helper()
	b.click("xpath", fmt.Sprintf("//button[contains(., %q)]", text))
}

// enter puts a text in the place of what a field holds.
func (b *browser) enter(field, text string) {
	b.t.Helper()
	element := b.find("css selector", field)
	b.post(element+"/clear", map[string]any{}, nil)
	b.post(element+"/value", map[string]string{"text": text}, nil)
}

// checkPage judges the page as it stands, dark on a phone and light on a desktop: axe finds nothing serious, and
// nothing is wider than the window. With TEST_SCREENSHOTS it keeps pictures in that folder.
func (b *browser) checkPage(name string) {
	b.t.Helper()
	for _, view := range []struct {
		width  int
		scheme string
	}{{390, "dark"}, {1280, "light"}} {
		b.post("/window/rect", map[string]int{"width": view.width, "height": 900}, nil)
		b.chromium("Emulation.setEmulatedMedia", map[string]any{
			"features": []map[string]string{{"name": "prefers-color-scheme", "value": view.scheme}}}, nil)
		var over int
		b.script("return document.documentElement.scrollWidth - innerWidth", &over)
		if over > 0 {
			b.t.Errorf("%s is %d pixels wider than a window of %d", name, over, view.width)
		}
		var found string
		b.chromium("Runtime.evaluate", map[string]any{"expression": b.axe}, nil)
		b.post("/execute/async", map[string]any{"args": []any{}, "script": judged}, &found)
		if found != "" {
			b.t.Errorf("%s, %d pixels wide, %s: %s", name, view.width, view.scheme, found)
		}
		if dir := os.Getenv("TEST_SCREENSHOTS"); dir != "" {
			b.picture(fmt.Sprintf("%s/%s-%d.png", dir, name, view.width))
		}
	}
}

// judged returns what axe finds serious or critical, with the first elements that have it.
const judged = `const done = arguments[0];
	axe.run(document, {resultTypes: ["violations"]}).then(r => done(r.violations
		.filter(v => v.impact == "serious" || v.impact == "critical")
		.map(v => v.help + ": " + v.nodes.slice(0, 3).map(n => n.html + " " + n.failureSummary).join("; "))
		.join("\\n")), e => done("axe: " + e))`

// picture keeps how the whole page looks.
func (b *browser) picture(file string) {
	b.t.Helper()
	var taken struct{ Data []byte }
	b.chromium("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &taken)
	if err := os.WriteFile(file, taken.Data, 0o644); err != nil {
		b.t.Error(err)
	}
}

// chromium gives a command of Chromium's own protocol.
func (b *browser) chromium(command string, params map[string]any, value any) {
	b.t.Helper()
	b.post("/goog/cdp/execute", map[string]any{"cmd": command, "params": params}, value)
}

// TestPages goes the way of somebody who puts topics in and reads the reports, in a browser.
func TestPages(t *testing.T) {
	scaletest.Processes(t)
	t.Parallel()
	b := newBrowser(t)
	const token = "a-token-of-32-letters-for-a-test-"
	f := newDeskAt(t, "", "NIGHTDESK_SERVE_TOKEN="+token)
	s := f.up()

	b.open(s.url)
	b.shows("Log in", nil)
	b.checkPage("login")
	b.enter("input[name=token]", "not-it")
	b.press("Log in")
	b.shows("That is not the token", nil)
	b.enter("input[name=token]", token)
	b.press("Log in")
	b.shows("Nothing here yet", nil)
	b.checkPage("empty")

	b.enqueues()
	b.open(s.url)
	b.shows("This morning", b.reload)
	b.checkPage("digest")
	b.press("Try it again")
	b.shows("queued again", nil)
	b.checkPage("acted")
	b.open(s.url)
	b.reads()
	b.remarks()
	b.compares(f)

	b.click("link text", "Search")
	b.checkPage("search")
	b.enter("main input[type=search]", "cranes")
	b.press("Search")
	b.shows("search?q=cranes", nil)
	b.shows("How does the harbour inspect its cranes?", b.reload)
	b.checkPage("found")
	for _, name := range []string{"Schedules", "Health", "Batches"} {
		b.click("link text", name)
		b.checkPage(strings.ToLower(name))
	}
	b.press("Log out")
	b.shows("Log in", nil)
	b.open(s.url + "batches")
	b.shows("Token", nil)
}

// enqueues puts in a list with an error, mends it, and watches its batch until one topic is done and one has failed.
func (b *browser) enqueues() {
	b.t.Helper()
	const list = "topic,preset,tags\nHow does the harbour inspect its cranes?,quick,cranes\nZyx wvut srq?,%s,\n"
	b.click("link text", "New")
	b.enter("textarea[name=list]", fmt.Sprintf(list, "quik"))
	b.press("Check the list")
	b.shows("line 3", nil)
	b.checkPage("wrong-list")
	b.enter("textarea[name=list]", fmt.Sprintf(list, "quick"))
	b.click("xpath", "//select[@name='kb']/option[.='docs']")
	b.press("Check the list")
	b.shows("2 topics would be enqueued", nil)
	b.checkPage("checked-list")
	b.press("Enqueue 2 topics")
	b.shows("2 topics enqueued", nil)
	b.checkPage("enqueued")
	b.click("css selector", "main a")
	b.shows("/batches/page_", nil)
	b.shows("completed 1", nil) // the page follows the work by itself
	b.shows("failed 1", nil)
	b.checkPage("batch")
}

// reads opens a report, a citation in the text that it is from, and what was checked.
func (b *browser) reads() {
	b.t.Helper()
	b.click("partial link text", "How does the harbour")
	b.shows("Download", nil)
	b.checkPage("run")
	b.click("partial link text", "CIT-1-01")
	b.shows("The text as it was read", nil)
	var marked string
	b.script("return document.querySelector('#here').innerText", &marked)
	if !strings.Contains(marked, "every 10 days") {
		b.t.Errorf("the passage that is pointed at: %q", marked)
	}
	b.checkPage("source")
	b.click("link text", "Back to the report")
	b.click("link text", "what was found of each sentence")
	b.click("css selector", "summary")
	b.shows("every 10 days", nil)
	b.checkPage("checks")
	b.click("link text", "Back to the report")
	b.click("link text", "what was done when")
	b.click("xpath", "//details[2]/summary")
	b.shows("sources", nil)
	b.checkPage("timeline")
	b.click("link text", "Back to the run")
}

// remarks says that a sentence of the report is wrong.
func (b *browser) remarks() {
	b.t.Helper()
	b.click("link text", "what was found of each sentence")
	b.click("css selector", "summary")
	b.click("link text", "this is wrong")
	b.shows("This sentence is wrong", nil)
	b.enter("textarea[name=words]", "Rule 1.2.1 was replaced in May.")
	b.checkPage("remark")
	b.press("Keep the remark")
	b.shows("The remark is kept.", nil)
	b.checkPage("remarks")
	b.click("link text", "Back to the report")
	b.shows("Rule 1.2.1 was replaced in May.", nil)
}

// compares changes what the report says, researches its topic again, and shows both reports side by side.
func (b *browser) compares(f *fleet) {
	b.t.Helper()
	cranes := filepath.Join(f.dir, "docs", "cranes.md")
	text, err := os.ReadFile(cranes)
	if err != nil {
		b.t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte("every 10 days"), []byte("every 20 days"))
	if err := os.WriteFile(cranes, text, 0o600); err != nil {
		b.t.Fatal(err)
	}
	f.output("kb", "add", "--name", "docs", "docs")
	const batch = "page_again"
	topics := filepath.Join(f.dir, "again.txt")
	if err := os.WriteFile(topics, []byte("How does the harbour inspect its cranes?\n"), 0o600); err != nil {
		b.t.Fatal(err)
	}
	f.output("enqueue", topics, "--batch", batch, "--kb", "docs", "--preset", "quick")
	f.output("watch", batch)
	b.click("link text", "all reports on this topic")
	b.shows("2 reports on this topic", b.reload)
	b.checkPage("topic")
	b.press("Show them side by side")
	b.shows("/compare?", nil)
	b.shows("every 10 days", nil)
	b.shows("every 20 days", nil)
	b.checkPage("compare")
}

// reload brings the page anew.
func (b *browser) reload() { b.ask("/refresh", map[string]any{}, nil) }
