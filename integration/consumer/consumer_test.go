package consumer

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/core/outboxtest"
	"github.com/satchel-go/satchel/postgrestest"
	"github.com/satchel-go/satchel/servers/kafkaserver"
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

// patience bounds a whole case: a first build compiles everything.
const patience = 15 * time.Minute

const version = "v0.0.1"

var confirmed = outbox.Entry{
	DestinationType: destination.Kafka, EventType: "order.confirmed",
	AggregateID: "order-42", Payload: map[string]int{"total": 4200},
}

// outside is what the cases share: the proxy with our modules, and a module cache. A
// version is immutable in a cache, and ours is new with each run.
type outside struct{ proxy, cache string }

// place is a module outside the repository.
type place struct {
	*testing.T
	folder string
	env    []string
	ctx    context.Context
}

// place makes a module with the program of a case, and gets modules for it.
func (o outside) place(t *testing.T, program string, get ...string) *place {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	p := &place{T: t, folder: t.TempDir(), ctx: ctx}
	env := p.settings("GOMODCACHE", "GOPROXY")
	p.env = append(os.Environ(),
		"GOWORK=off",
		"GOMODCACHE="+o.cache,
		// Of what was downloaded before, nothing is downloaded again.
		"GOPROXY=file://"+o.proxy+",file://"+filepath.Join(env[0], "cache", "download")+","+env[1],
		"GONOSUMDB="+Root+"/*",
		// Without paths in them, compiled packages serve the next run's cache folder too.
		"GOFLAGS=-mod=mod -modcacherw -buildvcs=false -trimpath",
	)
	source, err := os.ReadFile(filepath.Join("testdata", program, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.folder, "main.go"), source, 0o600); err != nil {
		t.Fatal(err)
	}
	p.run("go", "mod", "init", "example.com/"+program)
	p.knowSums()
	args := []string{"get"}
	for _, name := range get {
		args = append(args, Root+"/"+name+"@"+version)
	}
	p.run("go", args...)
	p.run("go", "mod", "tidy")
	return p
}

// settings returns values of go env as they are outside the place.
func (p *place) settings(names ...string) []string {
	p.Helper()
	return strings.Split(p.run("go", append([]string{"env"}, names...)...), "\n")
}

// knowSums gives the module the checksums that the repository has committed, so that what
// is compared with a checksum database is only what is new.
func (p *place) knowSums() {
	p.Helper()
	var sums []byte
	for _, name := range Modules {
		doc, err := os.ReadFile(filepath.Join("..", "..", name, "go.sum"))
		if err != nil && !os.IsNotExist(err) {
			p.Fatal(err)
		}
		sums = append(sums, doc...)
	}
	if err := os.WriteFile(filepath.Join(p.folder, "go.sum"), sums, 0o600); err != nil {
		p.Fatal(err)
	}
}

// run runs a command in the place and returns what it printed, without the last newline.
func (p *place) run(name string, args ...string) string {
	p.Helper()
	cmd := exec.CommandContext(p.ctx, name, args...)
	cmd.Dir, cmd.Env = p.folder, p.env
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		p.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, stderr.String())
	}
	return strings.TrimRight(string(out), "\n")
}

// without fails if a module is in the graph that the user did not ask for.
func (p *place) without(unwanted ...string) {
	p.Helper()
	for module := range strings.SplitSeq(p.run("go", "list", "-m", "-f", "{{.Path}}", "all"), "\n") {
		if slices.ContainsFunc(unwanted, func(path string) bool { return strings.HasPrefix(module, path) }) {
			p.Errorf("%s came along", module)
		}
	}
}

// result builds the program and runs it with further variables.
func (p *place) result(env ...string) string {
	p.Helper()
	p.run("go", "build", "-o", "program", ".")
	p.env = append(p.env, env...)
	return p.run(filepath.Join(p.folder, "program"))
}

const (
	sarama         = "github.com/IBM/sarama"
	asynq          = "github.com/hibiken/asynq"
	wire           = "github.com/google/wire"
	testcontainers = "github.com/testcontainers/"
	atlas          = "ariga.io/atlas"
)

func TestConsumers(t *testing.T) {
	t.Parallel()
	o := outside{proxy: t.TempDir(), cache: t.TempDir()}
	if err := Publish(filepath.Join("..", ".."), o.proxy, version); err != nil {
		t.Fatal(err)
	}

	t.Run("publisher", func(t *testing.T) {
		t.Parallel()
		db := postgrestest.New(t)
		p := o.place(t, "publisher", "core", "postgres")
		p.without(sarama, asynq, wire, testcontainers, atlas)
		got := outboxtest.Added(t, postgrestest.Entries(db.Pool(t), ""), func() {
			if out := p.result("DATABASE_URL=" + db.URL); out != "published" {
				t.Errorf("it printed %q", out)
			}
		})
		want := confirmed
		want.Destination = "orders"
		outboxtest.Expect(t, got, want)
	})

	t.Run("kafka", func(t *testing.T) {
		t.Parallel()
		db := postgrestest.New(t)
		brokers := cluster(t)
		p := o.place(t, "kafka", "core", "postgres", "adapters-kafka")
		p.without(asynq, wire, testcontainers, atlas, Root+"/adapters-delayedjob", Root+"/adapters-http", Root+"/wiring")
		topic := "satchel-consumer-" + db.Name
		out := p.result("DATABASE_URL="+db.URL, "BROKERS="+strings.Join(brokers, ","), "TOPIC="+topic)
		if !strings.HasSuffix(out, "delivered true <nil>") {
			t.Errorf("it printed %q", out)
		}
		var state string
		if err := db.Pool(t).QueryRow(t.Context(), "SELECT state FROM outbox").Scan(&state); err != nil || state != string(outbox.Published) {
			t.Errorf("the entry is %s, %v", state, err)
		}
	})

	t.Run("everything", func(t *testing.T) {
		t.Parallel()
		db := postgrestest.New(t)
		p := o.place(t, "everything", "wiring")
		p.without(testcontainers)
		out := p.result("DATABASE_URL="+db.URL, "SATCHEL__DB__SCHEMAS__INBOX_OUTBOX=messaging", "SATCHEL__INBOXOUTBOX__RELAY__INSTANCES=2")
		if out != "hello Ada\nended" {
			t.Errorf("it printed %q", out)
		}
		var state string
		if err := db.Pool(t).QueryRow(t.Context(), "SELECT state FROM messaging.outbox").Scan(&state); err != nil || state != string(outbox.Published) {
			t.Errorf("the entry is %s, %v", state, err)
		}
	})
}

// cluster returns the brokers of a cluster, or of what stands in for one.
func cluster(t *testing.T) []string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	server, err := kafkaserver.Find(ctx, kafkaserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(server.String())
	t.Cleanup(func() {
		if err := server.Stop(context.Background()); err != nil {
			t.Error(fmt.Errorf("stop Kafka: %w", err))
		}
	})
	return server.Brokers
}
