package io.mortise.simulation.file;

import io.mortise.testkit.contract.ContractFor;
import io.mortise.testkit.contract.differential.DifferentialContract;
import org.junit.jupiter.api.Tag;

@ContractFor("toy-files")
@Tag("extended")
class FileStoreDifferentialTest extends DifferentialContract {
  FileStoreDifferentialTest() {
    super(FileStoreUnderTest::onRealTime);
  }
}
