package io.mortise.internal.storekit;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

class StoreKitExportTest {

  /** An export by name would not reach the ZooKeeper store on the class path (ADR 60). */
  @Test
  void givenCoreAsAModule_thenStoresOnTheClassPathSeeWhatAllStoresShare() throws Exception {
    Path core = Path.of(Refusals.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    ModuleDescriptor module =
        ModuleFinder.of(core).find("io.mortise.core").orElseThrow().descriptor();

    assertThat(module.exports())
        .filteredOn(export -> export.source().equals(Refusals.class.getPackageName()))
        .singleElement()
        .returns(false, ModuleDescriptor.Exports::isQualified);
  }
}
