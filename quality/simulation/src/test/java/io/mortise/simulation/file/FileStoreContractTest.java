package io.mortise.simulation.file;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;
import org.junit.jupiter.api.Tag;

@ContractFor("toy-files")
@Tag("product")
class FileStoreContractTest extends LockStoreContract {
  FileStoreContractTest() {
    super(FileStoreUnderTest.byHand());
  }
}
