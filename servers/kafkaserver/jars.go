package kafkaserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/satchel-go/satchel/servers/internal/cache"
	"github.com/satchel-go/satchel/servers/internal/daemon"
)

var (
	// ErrNoJava tells that neither JAVA_HOME nor PATH has a java.
	ErrNoJava = errors.New("no java in JAVA_HOME or on PATH")

	// ErrNoKafka tells that no folder with the jars of Apache Kafka 4 was found. The script scripts/kafka fetches them.
	ErrNoKafka = errors.New("no folder with Apache Kafka's jars (scripts/kafka fetches them)")
)

// installation is a Kafka that can be run.
type installation struct {
	java, jars string
	version    string
}

// installed looks for the jars in the folder that the environment names, else in the cache folders, newest name last
// in the alphabet first, else where the distribution is usually unpacked.
func installed(u *daemon.User) (installation, error) {
	java, err := findJava()
	if err != nil {
		return installation{}, err
	}
	if home := os.Getenv(EnvHome); home != "" {
		for _, jars := range []string{home, filepath.Join(home, "libs")} {
			if version := kafkaVersion(jars); version != "" {
				return installation{java: java, jars: jars, version: version}, readable(jars, u)
			}
		}
		return installation{}, fmt.Errorf("%s: %w", EnvHome, ErrNoKafka)
	}
	var folders []string
	for _, folder := range cache.Folders() {
		found, _ := filepath.Glob(filepath.Join(folder, "kafka-4.*")) // errors only for a malformed pattern
		slices.Sort(found)
		slices.Reverse(found)
		folders = append(folders, found...)
	}
	for _, jars := range append(folders, "/opt/kafka/libs") {
		if version := kafkaVersion(jars); version != "" && readable(jars, u) == nil {
			return installation{java: java, jars: jars, version: version}, nil
		}
	}
	return installation{}, ErrNoKafka
}

func readable(folder string, u *daemon.User) error {
	if !u.Reachable(folder) {
		return fmt.Errorf("folder %s is out of reach for the account that the broker runs as", folder)
	}
	return nil
}

func findJava() (string, error) {
	if home := os.Getenv("JAVA_HOME"); home != "" {
		if java, err := exec.LookPath(filepath.Join(home, "bin", "java")); err == nil {
			return java, nil
		}
	}
	java, err := exec.LookPath("java")
	if err != nil {
		return "", ErrNoJava
	}
	return java, nil
}

var coreJar = regexp.MustCompile(`^kafka_[\d.]+-(\d+\.\d+\.\d+)\.jar$`)

// kafkaVersion reads the version from the name of the jar with the broker in it; empty without one.
func kafkaVersion(folder string) string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return ""
	}
	for _, entry := range entries {
		if match := coreJar.FindStringSubmatch(entry.Name()); match != nil {
			return match[1]
		}
	}
	return ""
}
