package io.mortise.simulation.file;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.store.LockStoreContract;

@ContractFor("toy-files")
class FileStoreContractTest extends LockStoreContract {
  FileStoreContractTest() {
    super(FileStoreUnderTest.byHand());
  }
}
