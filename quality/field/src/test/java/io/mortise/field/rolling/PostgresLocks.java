package io.mortise.field.rolling;

import io.mortise.field.ServerKeys;
import io.mortise.testkit.BoundedWait;
import io.mortise.testkit.server.LossyDisk;
import io.mortise.testserver.PostgresServer;
import io.mortise.testserver.RedisSecurity;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A PostgreSQL server with TLS, on its own disk where the machine allows that. */
final class PostgresLocks implements LockServers {
  private static final Duration RECOVERY = Duration.ofMinutes(1);

  private final Optional<LossyDisk> disk = LossyDisk.mount();
  private final PostgresServer server;
  private final Path folder;
  private final Path trusted;

  /**
   * Starts it.
   *
   * @param folder for certificates
   */
  PostgresLocks(Path programs, Path folder) throws IOException {
    this.folder = folder;
    this.trusted = folder.resolve("trusted.pem");
    renewFiles();
    String[] arguments = {
      "-c", "ssl=on",
      "-c", "ssl_cert_file=" + folder.resolve("server.pem"),
      "-c", "ssl_key_file=" + folder.resolve("server.key")
    };
    server =
        disk.isPresent()
            ? PostgresServer.start(programs, disk.get(), Optional.empty(), arguments)
            : PostgresServer.start(programs, arguments);
  }

  /** Each certificate has a new authority; the clients' trust file keeps the former one too. */
  private void renewFiles() throws IOException {
    Path made = Files.createTempDirectory(folder, "certificate");
    RedisSecurity next = RedisSecurity.make(made, "", "");
    String former = Files.exists(trusted) ? Files.readString(trusted) : "";
    replace(trusted, former + Files.readString(next.certificate()));
    replace(folder.resolve("server.pem"), Files.readString(next.certificate()));
    Path key = replace(folder.resolve("server.key"), Files.readString(next.key()));
    Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    if (SimulatedHost.isRoot()) {
      SimulatedHost.must("chown", "65534:65534", key.toString());
      SimulatedHost.must("chmod", "755", folder.toString());
    }
  }

  private static Path replace(Path file, String text) throws IOException {
    Path next = Files.writeString(file.resolveSibling(file.getFileName() + ".next"), text);
    return Files.move(
        next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }

  @Override
  public String url() {
    return server.url().replace("127.0.0.1", "localhost")
        + "&sslmode=verify-ca&sslrootcert="
        + trusted;
  }

  /** The server loads it at once; open connections are ended, so that all clients meet it. */
  @Override
  public void renewCertificate() throws IOException {
    renewFiles();
    number("SELECT count(*) FROM pg_reload_conf()");
    number(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
            + " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()");
  }

  @Override
  public List<Integer> ports() {
    return List.of(server.port());
  }

  @Override
  public Set<DeploymentFault> can() {
    return disk.isPresent()
        ? Set.of(DeploymentFault.FAILOVER, DeploymentFault.CERTIFICATE, DeploymentFault.FULL_DISK)
        : Set.of(DeploymentFault.FAILOVER, DeploymentFault.CERTIFICATE);
  }

  @Override
  public void failOver() {
    server.kill();
    BoundedWait.pass(Duration.ofSeconds(2));
    server.restart();
  }

  @Override
  public void fillDisk(Duration time) {
    Path filler = disk.orElseThrow().folder().resolve("filler");
    fill(filler);
    BoundedWait.pass(time);
    try {
      Files.delete(filler);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (!serves()) {
      // The server stops when it cannot write its log.
      server.restart();
    }
    BoundedWait.until(RECOVERY, "PostgreSQL served again", this::serves);
  }

  private static void fill(Path filler) {
    byte[] block = new byte[1 << 16];
    try (OutputStream out = Files.newOutputStream(filler)) {
      while (true) {
        out.write(block);
      }
    } catch (IOException full) {
      // The disk is full, as intended.
    }
  }

  private boolean serves() {
    try {
      number("SELECT 1");
      return true;
    } catch (IllegalStateException e) {
      return false;
    }
  }

  @Override
  public long records() {
    return ServerKeys.rows(server.url());
  }

  @Override
  public long connections() {
    return number(
        "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
            + " AND pid <> pg_backend_pid()");
  }

  private long number(String sql) {
    try (Connection connection = DriverManager.getConnection(server.url());
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    server.close();
    disk.ifPresent(LossyDisk::close);
  }
}
