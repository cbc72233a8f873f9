package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.client.LockClientContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc:sqlite")
@Tag("product")
class SqliteClientTest extends LockClientContract {
  SqliteClientTest() {
    super(new SqliteUnderTest());
  }
}
