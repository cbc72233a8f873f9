package io.mortise.support.internal.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.internal.queue.OutboxLock;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.nio.file.Path;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoreKitExportTest {

  /** An export by name would not reach the ZooKeeper store on the class path (ADR 60). */
  @ParameterizedTest
  @ValueSource(classes = {OutboxLock.class, Refusals.class})
  void givenModules_thenStoresOnTheClassPathSeeWhatAllStoresShare(Class<?> shared)
      throws Exception {
    Path origin = Path.of(shared.getProtectionDomain().getCodeSource().getLocation().toURI());
    ModuleDescriptor module = ModuleFinder.of(origin).findAll().iterator().next().descriptor();

    assertThat(module.exports())
        .filteredOn(export -> export.source().equals(shared.getPackageName()))
        .singleElement()
        .returns(false, ModuleDescriptor.Exports::isQualified);
  }
}
