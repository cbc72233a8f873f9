package io.mortise.jdbc.dialect;

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
