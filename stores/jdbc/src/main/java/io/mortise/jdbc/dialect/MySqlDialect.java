package io.mortise.jdbc.dialect;

import io.mortise.spi.StoreUrl;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;
import java.util.Set;

/**
 * MySQL, by its own driver or, where that is not on the class path, by MariaDB's, which speaks the
 * same protocol.
 */
public final class MySqlDialect extends MySqlFamilyDialect {
  @Override
  public String folder() {
    return FOLDER;
  }

  @Override
  public String product() {
    return "MySQL";
  }

  @Override
  public String driver() {
    return "com.mysql:mysql-connector-j or org.mariadb.jdbc:mariadb-java-client";
  }

  @Override
  public Set<String> driverParameters() {
    return Set.of(
        "sslMode",
        "allowPublicKeyRetrieval",
        "serverRSAPublicKeyFile",
        "trustCertificateKeyStoreUrl",
        "trustCertificateKeyStoreType",
        "trustCertificateKeyStorePassword",
        "clientCertificateKeyStoreUrl",
        "clientCertificateKeyStoreType",
        "clientCertificateKeyStorePassword");
  }

  @Override
  int lowest() {
    return 8_000_017;
  }

  @Override
  boolean returnsRows() {
    return false;
  }

  @Override
  boolean isOurs(String version) {
    return !version.toLowerCase(Locale.ROOT).contains("mariadb");
  }

  @Override
  public ConnectionTarget target(StoreUrl url, Duration maxInFlight) {
    ConnectionTarget own = super.target(url, maxInFlight);
    if (DriverManager.drivers().anyMatch(driver -> takes(driver, own.url()))) {
      return own;
    }
    return MariaDbDialect.withReplyTimeout(
        new ConnectionTarget(
            own.url().replaceFirst("^jdbc:mysql:", "jdbc:mariadb:"),
            own.properties(),
            own.display()));
  }

  private static boolean takes(Driver driver, String url) {
    try {
      return driver.acceptsURL(url);
    } catch (SQLException e) {
      return false;
    }
  }
}
