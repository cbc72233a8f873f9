package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

@ContractFor("jdbc:sqlite")
class SqliteDifferentialTest extends DifferentialContract {
  @TempDir static Path directory;

  /** In one file: none may see what another has left under the same names. */
  SqliteDifferentialTest() {
    super(() -> new SqliteUnderTest(directory));
  }
}
