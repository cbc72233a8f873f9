package io.mortise.jdbc.dialect;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.StoreUnfitException;
import io.mortise.jdbc.table.SqlText;
import java.sql.SQLException;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Refusals of servers that the tests cannot start. */
class DatabaseRefusalTest {
  @ParameterizedTest
  @ValueSource(ints = {768, 1536})
  void givenServerWithSmallPages_whenTheTablesDoNotFit_thenItIsUnfit_andNamesTheOption(int most) {
    SQLException tooLong =
        new SQLException(
            "Specified key was too long; max key length is " + most + " bytes", "42000", 1071);
    for (MySqlFamilyDialect dialect :
        new MySqlFamilyDialect[] {new MySqlDialect(), new MariaDbDialect()}) {
      SqlText text = new SqlText(dialect.folders(), SqlText.DEFAULT_PREFIX);
      assertThat(new DatabaseRefusal("Store 'a'", dialect, text).of(tooLong))
          .isInstanceOf(StoreUnfitException.class)
          .hasMessageContaining("innodb_page_size")
          .hasMessageContaining(most + " bytes");
    }
  }
}
