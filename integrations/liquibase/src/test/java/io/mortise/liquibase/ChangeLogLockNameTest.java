package io.mortise.liquibase;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.LockName;
import org.junit.jupiter.api.Test;

class ChangeLogLockNameTest {
  @Test
  void givenJdbcUrls_thenNamesHaveNoCredentialsAndNoParameters() {
    assertThat(ChangeLogLockName.of("jdbc:postgresql://db:5432/app?user=u&password=p", "public"))
        .isEqualTo("liquibase/jdbc:postgresql://db:5432/app/public");
    assertThat(ChangeLogLockName.of("jdbc:mysql://u:p@db/app", null))
        .isEqualTo("liquibase/jdbc:mysql://db/app");
    assertThat(ChangeLogLockName.of("jdbc:oracle:thin:scott/tiger@//db:1521/app", "HR"))
        .isEqualTo("liquibase/jdbc:oracle:thin://db:1521/app/HR");
    assertThat(ChangeLogLockName.of("jdbc:sqlserver://db;databaseName=app;password=p", "dbo"))
        .isEqualTo("liquibase/jdbc:sqlserver://db;databaseName=app/dbo");
    assertThat(ChangeLogLockName.of("jdbc:db2://db:50000/app:user=u;password=p;", "HR"))
        .isEqualTo("liquibase/jdbc:db2://db:50000/app/HR");
  }

  @Test
  void givenDatabasesOfOneSqlServer_thenEachHasALockOfItsOwn() {
    assertThat(ChangeLogLockName.of("jdbc:sqlserver://db;databaseName=one;user=u", "dbo"))
        .isNotEqualTo(ChangeLogLockName.of("jdbc:sqlserver://db;databaseName=two;user=u", "dbo"));
    assertThat(
            ChangeLogLockName.of(
                "jdbc:sqlserver://;user=u;password={a;database=b};Database=app;port=1433;server=db",
                "dbo"))
        .isEqualTo(
            "liquibase/jdbc:sqlserver://;databaseName=app;portNumber=1433;serverName=db/dbo");
    assertThat(ChangeLogLockName.of("jdbc:jtds:sqlserver://db/app;instance=i;user=u", "dbo"))
        .isEqualTo("liquibase/jdbc:jtds:sqlserver://db/app;instanceName=i/dbo");
  }

  @Test
  void givenUrlThatIsNoLockName_thenItIsHashed() {
    String name = ChangeLogLockName.of("jdbc:h2:" + "x".repeat(600), "PUBLIC");
    assertThat(name).startsWith("liquibase/sha256/").hasSizeLessThan(LockName.MAX_BYTES);
    assertThat(name)
        .isEqualTo(ChangeLogLockName.of("jdbc:h2:" + "x".repeat(600) + ";A=B", "PUBLIC"))
        .isNotEqualTo(ChangeLogLockName.of("jdbc:h2:" + "x".repeat(601), "PUBLIC"));
  }
}
