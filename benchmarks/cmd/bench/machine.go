package main

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/satchel-go/satchel/benchmarks/report"
)

// machine describes this one as far as the system tells.
func machine() report.Machine {
	m := report.Machine{CPU: runtime.GOARCH, Cores: runtime.NumCPU(), OS: runtime.GOOS}
	if model := field("/proc/cpuinfo", "model name"); model != "" {
		m.CPU = model
	}
	m.Memory = field("/proc/meminfo", "MemTotal")
	if out, err := exec.Command("uname", "-sr").Output(); err == nil {
		m.OS = strings.TrimSpace(string(out))
	}
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		if words := strings.Fields(string(load)); len(words) >= 3 {
			m.Load = strings.Join(words[:3], " ")
		}
	}
	return m
}

// field returns what a file says after a name and a colon, or "".
func field(path, name string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// versions returns those of Go and of the modules that matter to the figures.
func versions() map[string]string {
	v := map[string]string{"go": runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, m := range info.Deps {
		switch m.Path {
		case "github.com/jackc/pgx/v5", "github.com/lib/pq", "github.com/IBM/sarama":
			v[m.Path] = m.Version
		}
	}
	return v
}

// serverSettings reads the settings that matter to the figures.
func serverSettings(ctx context.Context, url string) (map[string]string, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	out := map[string]string{}
	for _, name := range []string{
		"shared_buffers", "max_wal_size", "checkpoint_timeout", "work_mem", "fsync", "synchronous_commit", "full_page_writes", "jit", "autovacuum",
	} {
		var value string
		if err := conn.QueryRow(ctx, "SELECT current_setting($1)", name).Scan(&value); err != nil {
			return nil, err
		}
		out[name] = value
	}
	return out, nil
}
