package io.mortise.simulation.file;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;

@ContractFor("toy-files")
class FileStoreDifferentialTest extends DifferentialContract {
  FileStoreDifferentialTest() {
    super(FileStoreUnderTest::onRealTime);
  }
}
