package io.mortise.jdbc.dialect;

import io.mortise.jdbc.driver.DriverSocketFactory;
import io.mortise.jdbc.driver.ReplyTimeoutSocketFactory;
import io.mortise.spi.StoreUrl;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** MariaDB. */
public final class MariaDbDialect extends MySqlFamilyDialect {
  @Override
  public String folder() {
    return "mariadb";
  }

  @Override
  public List<String> folders() {
    return List.of(folder(), FOLDER);
  }

  @Override
  public ConnectionTarget target(StoreUrl url, Duration maxInFlight) {
    return withReplyTimeout(super.target(url, maxInFlight));
  }

  /** Of MariaDB's driver: its timeout bounds a whole reply. */
  static ConnectionTarget withReplyTimeout(ConnectionTarget connectionTarget) {
    if (DriverSocketFactory.isSeen(ReplyTimeoutSocketFactory.class, "org.mariadb.jdbc.Driver")) {
      connectionTarget
          .properties()
          .setProperty("socketFactory", ReplyTimeoutSocketFactory.class.getName());
    }
    return connectionTarget;
  }

  @Override
  public String product() {
    return "MariaDB";
  }

  @Override
  public String driver() {
    return "org.mariadb.jdbc:mariadb-java-client";
  }

  @Override
  public Set<String> driverParameters() {
    return Set.of(
        "sslMode",
        "serverSslCert",
        "trustStore",
        "trustStoreType",
        "trustStorePassword",
        "keyStore",
        "keyStoreType",
        "keyStorePassword",
        "allowPublicKeyRetrieval",
        "serverRsaPublicKeyFile");
  }

  @Override
  int lowest() {
    return 10_006_000;
  }

  @Override
  boolean returnsRows() {
    return true;
  }

  @Override
  boolean isOurs(String version) {
    return version.toLowerCase(Locale.ROOT).contains("mariadb");
  }
}
