package kafkaserver

import (
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPropertiesFile(t *testing.T) {
	t.Parallel()
	text := file(localProperties("/data", 1234, 5678))
	for _, want := range []string{
		"advertised.listeners=PLAINTEXT://127.0.0.1:1234\n",
		"controller.quorum.voters=1@127.0.0.1:5678\n",
		"listeners=PLAINTEXT://127.0.0.1:1234,CONTROLLER://127.0.0.1:5678\n",
		"log.dirs=/data\n",
		"offsets.topic.replication.factor=1\n",
	} {
		if !strings.Contains("\n"+text, "\n"+want) {
			t.Errorf("the file lacks %q:\n%s", want, text)
		}
	}
}

// A broker in a container must reach itself inside, and clients must be sent to the port outside.
func TestContainerEnvironment(t *testing.T) {
	t.Parallel()
	env := environment(containerProperties(1234))
	for name, want := range map[string]string{
		"KAFKA_ADVERTISED_LISTENERS":             "PLAINTEXT://127.0.0.1:1234,INSIDE://127.0.0.1:9094",
		"KAFKA_INTER_BROKER_LISTENER_NAME":       "INSIDE",
		"KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
		"KAFKA_PROCESS_ROLES":                    "broker,controller",
	} {
		if env[name] != want {
			t.Errorf("%s is %q, want %q", name, env[name], want)
		}
	}
}

func TestClusterID(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 200 {
		id := newClusterID()
		raw, err := base64.RawURLEncoding.DecodeString(id)
		if err != nil || len(raw) != 16 || id[0] < 'A' || id[0] > 'P' {
			t.Fatalf("id %q: %d bytes, %v", id, len(raw), err)
		}
		if seen[id] {
			t.Fatalf("id %q came twice", id)
		}
		seen[id] = true
	}
}

// jarFolder makes a folder with empty files of these names.
func jarFolder(t *testing.T, folder string, names ...string) string {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestVersionOfAFolderOfJars(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"kafka_2.13-4.3.1.jar":    "4.3.1",
		"kafka-clients-4.3.1.jar": "",
		"kafka_2.13-4.3.1.pom":    "",
	} {
		if got := kafkaVersion(jarFolder(t, t.TempDir(), name)); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestWhereJarsAreLookedFor(t *testing.T) {
	java := filepath.Join(t.TempDir(), "jdk")
	jarFolder(t, filepath.Join(java, "bin"))
	if err := os.WriteFile(filepath.Join(java, "bin", "java"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("JAVA_HOME", java)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	cached := filepath.Join(os.Getenv("XDG_CACHE_HOME"), "satchel")

	jarFolder(t, filepath.Join(cached, "kafka-4.1.2"), "kafka_2.13-4.1.2.jar")
	jarFolder(t, filepath.Join(cached, "kafka-4.3.1"), "kafka_2.13-4.3.1.jar")
	found, err := installed(nil)
	if err != nil || found.version != "4.3.1" {
		t.Errorf("got %+v, %v; want the newest of the cache folder", found, err)
	}
	if found.java != filepath.Join(java, "bin", "java") {
		t.Errorf("java is %s, want that of JAVA_HOME", found.java)
	}

	distribution := t.TempDir()
	libs := jarFolder(t, filepath.Join(distribution, "libs"), "kafka_2.13-4.0.2.jar")
	t.Setenv(EnvHome, distribution)
	if found, err := installed(nil); err != nil || found.jars != libs || found.version != "4.0.2" {
		t.Errorf("got %+v, %v; want the folder of %s", found, err, EnvHome)
	}

	t.Setenv(EnvHome, t.TempDir())
	_, err = Find(t.Context(), Options{Private: true})
	if !errors.Is(err, ErrNoKafka) || !strings.Contains(err.Error(), EnvHome) || strings.Contains(err.Error(), "kfake") {
		t.Errorf("got %v, want ErrNoKafka for %s alone", err, EnvHome)
	}
}
