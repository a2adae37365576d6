package kafkaserver

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/satchel-go/satchel/servers"
	"github.com/satchel-go/satchel/servers/internal/daemon"
	"github.com/satchel-go/satchel/servers/internal/sources"
)

const (
	startLimit = 2 * time.Minute // two Java programs on a busy machine
	tries      = 3               // the ports that the kernel had free may have been taken meanwhile
)

// local starts the Apache Kafka of this machine. A folder that was named is used or reported; another broker would be a
// silent surprise.
func (o Options) local(ctx context.Context) (*Server, error) {
	server, err := o.startLocal(ctx)
	if err != nil && os.Getenv(EnvHome) != "" {
		return nil, sources.Final(err)
	}
	return server, err
}

func (o Options) startLocal(ctx context.Context) (*Server, error) {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	user, err := daemon.Unprivileged()
	if err != nil {
		return nil, err
	}
	kafka, err := installed(user)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		server, port, err := kafka.launch(ctx, user)
		if err == nil {
			i := servers.Started(kind, kafka.version, "local Apache Kafka in "+kafka.jars, server)
			return &Server{Instance: i, Brokers: []string{address(port)}}, nil
		}
		if try == tries || !errors.Is(err, daemon.ErrEnded) {
			return nil, err
		}
	}
}

// launch makes a folder with formatted storage and starts a broker on it. The ports are part of the storage, so another
// try begins with another folder.
func (k installation) launch(ctx context.Context, user *daemon.User) (*daemon.Server, int, error) {
	port, err := daemon.FreePort()
	if err != nil {
		return nil, 0, err
	}
	controller, err := daemon.FreePort()
	if err != nil {
		return nil, 0, err
	}
	folder, err := daemon.NewFolder("satchel-kafka", user, syscall.SIGKILL)
	if err != nil {
		return nil, 0, err
	}
	const config = "server.properties"
	data := filepath.Join(folder.Path, "data")
	cluster := newClusterID()
	server := &daemon.Server{
		Folder:  folder,
		Program: k.program(folder, "kafka.Kafka", config),
		Ready: func(ctx context.Context) error {
			_, err := ready(ctx, address(port), cluster)
			return err
		},
		Orderly: syscall.SIGTERM,
		Quick:   syscall.SIGKILL,
	}
	err = folder.WriteFile(config, file(localProperties(data, port, controller)))
	if err == nil {
		format := k.program(folder, "kafka.tools.StorageTool", "format", "--cluster-id", cluster, "--config", config)
		err = daemon.Run(ctx, folder, format)
	}
	if err == nil {
		err = server.Start(ctx)
	}
	if err != nil {
		return nil, 0, errors.Join(err, folder.Remove())
	}
	return server, port, nil
}

// program runs a class of Kafka's. The heap is small because tests are, and the collector is the one that starts
// quickest. Without a level the logging library would print errors only, too little to see why a broker did not start.
func (k installation) program(folder *daemon.Folder, class string, args ...string) daemon.Program {
	fixed := []string{
		"-Xms128m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:+ExitOnOutOfMemoryError",
		"-Djava.awt.headless=true", "-Djava.io.tmpdir=" + folder.Path, "-Dlog4j2.level=WARN",
		"-cp", filepath.Join(k.jars, "*"), class,
	}
	return daemon.Program{
		Path: k.java,
		Args: append(fixed, args...),
		Env:  []string{"PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=" + folder.Path},
	}
}

var errOther = errors.New("another cluster answers on the port")

// ready asks the broker for its cluster's id, so that another broker that took the port is not mistaken for it, and
// returns its version.
func ready(ctx context.Context, broker, cluster string) (version string, err error) {
	const patience = 5 * time.Second
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	answer, err := ask(ctx, broker)
	if err == nil && answer.cluster != cluster {
		err = errOther
	}
	return answer.version, err
}
