package io.mortise.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.mortise.jdbc.dialect.Dialect;
import io.mortise.jdbc.dialect.MariaDbDialect;
import io.mortise.jdbc.dialect.MySqlDialect;
import io.mortise.spi.StoreUrl;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A store's messages about its server hold no password. */
class PasswordRedactorTest {
  private static String all(Throwable error) {
    StringWriter text = new StringWriter();
    error.printStackTrace(new PrintWriter(text));
    return text.toString();
  }

  @ParameterizedTest
  @ValueSource(strings = {"mariadb", "mysql", "postgresql"})
  void givenUserInFrontOfTheHost_whenOpened_thenItIsRefused_andThePasswordIsNotShown(
      String scheme) {
    Throwable refusal =
        catchThrowable(() -> JdbcStore.open("jdbc:" + scheme + "://me:hunter2@127.0.0.1:1/db"));
    assertThat(refusal).isInstanceOf(IllegalArgumentException.class).hasMessageContaining("?user=");
    assertThat(all(refusal)).doesNotContain("hunter2");
  }

  @Test
  void givenDriverThatQuotesThePassword_whenItFails_thenItIsHiddenInAllCauses() {
    Properties settings = new Properties();
    settings.setProperty("password", "hunter2");
    settings.setProperty("trustStorePassword", "keep-out");
    settings.setProperty("user", "alice");
    SQLException said =
        new SQLException(
            "alice may not enter with hunter2",
            "28000",
            7,
            new IllegalArgumentException("Incorrect port value : hunter2@host, keep-out"));

    Throwable hidden = new PasswordRedactor("jdbc:x:", settings).hide(said);

    assertThat(hidden).hasMessage("alice may not enter with ***");
    assertThat(((SQLException) hidden).getSQLState()).isEqualTo("28000");
    assertThat(((SQLException) hidden).getErrorCode()).isEqualTo(7);
    assertThat(all(hidden))
        .contains("IllegalArgumentException: Incorrect port value : ***@host, ***")
        .doesNotContain("hunter2")
        .doesNotContain("keep-out");
  }

  @Test
  void givenErrorWithoutAPassword_orWithAShortOne_thenItIsAsItWas() {
    Properties settings = new Properties();
    settings.setProperty("password", "in");
    SQLException said = new SQLException("not let in");
    assertThat((Throwable) new PasswordRedactor("jdbc:x:", settings).hide(said)).isSameAs(said);
  }

  @Test
  void givenServerThatAsksForAFile_whenConnectedAsTheStoreIs_thenItIsRefused() throws Exception {
    refusesToSendFiles(new MariaDbDialect(), MySqlServers.MARIADB);
    refusesToSendFiles(new MySqlDialect(), MySqlServers.MYSQL);
  }

  private static void refusesToSendFiles(Dialect dialect, MySqlServers servers)
      throws SQLException {
    StoreUrl url = StoreUrl.parse(servers.url());
    Dialect.ConnectionTarget connectionTarget = dialect.target(url, Duration.ofSeconds(5));
    Properties settings = connectionTarget.properties();
    settings.setProperty("user", "admin");
    for (String name : new String[] {"password", "sslMode", "allowPublicKeyRetrieval"}) {
      if (url.parameter(name) != null) {
        settings.setProperty(name, url.parameter(name));
      }
    }
    try (Connection connection = DriverManager.getConnection(connectionTarget.url(), settings);
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TEMPORARY TABLE asked (line VARCHAR(200))");
      assertThatThrownBy(
              () -> statement.execute("LOAD DATA LOCAL INFILE '/etc/hostname' INTO TABLE asked"))
          .isInstanceOf(SQLException.class);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "jdbc:h2:relative;USER=sa;PASSWORD=hunter22",
        "jdbc:h2:mem:x;USER=sa;PASSWORD_HASH=TRUE;PASSWORD=hunter22",
        "jdbc:h2:tcp://me:hunter22@127.0.0.1:1/db",
        "jdbc:derby://127.0.0.1:1/db;user=me;password=hunter22",
      })
  void givenPasswordWithinADriversUrl_whenOpeningFails_thenItIsNotShown(String url) {
    Throwable refusal = catchThrowable(() -> JdbcStore.open(url));
    assertThat(refusal).isNotNull();
    assertThat(all(refusal)).doesNotContain("hunter22");
  }

  @Test
  void givenUrlsOfDrivers_thenWhatStandsBeforeTheHostIsHidden() {
    for (String url : new String[] {"jdbc:oracle:thin:scott/tiger@//host", "jdbc:x://me:tiger@h"}) {
      SQLException said = new SQLException("no way to " + url);
      assertThat(new PasswordRedactor(url, new Properties()).hide(said).getMessage())
          .as(url)
          .doesNotContain("tiger")
          .contains("***@");
    }
  }
}
