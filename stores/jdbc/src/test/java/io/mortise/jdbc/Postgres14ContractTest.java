package io.mortise.jdbc;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

@ContractFor("jdbc:postgresql")
@Tag("product")
class Postgres14ContractTest extends LockStoreContract {
  Postgres14ContractTest() {
    super(new PostgresUnderTest(PostgresServers.V14));
  }
}
