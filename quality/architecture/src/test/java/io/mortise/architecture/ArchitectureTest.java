package io.mortise.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Checks {@link Rules} in all modules, and that no module is missing. */
class ArchitectureTest {
  private static final JavaClasses ALL =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("io.mortise");

  @Test
  void givenAllModules_thenEachIsLookedAt() throws IOException {
    for (Path module : Modules.folders(Documentation.ROOT)) {
      Path main = module.resolve("src/main/java");
      if (Files.isDirectory(main) && !module.endsWith("verification")) {
        try (Stream<Path> sources = Files.walk(main)) {
          String types =
              sources
                  .filter(file -> file.toString().endsWith("package-info.java"))
                  .map(file -> main.relativize(file.getParent()).toString().replace('/', '.'))
                  .findFirst()
                  .orElseThrow();
          assertThat(ALL.containPackage(types)).as(types).isTrue();
        }
      }
    }
  }

  @Test
  void givenAllTypes_thenNoNameIsUsedTwice() {
    Rules.ONE_NAME_ONE_TYPE.check(ALL);
  }

  @Test
  void givenAllPackages_thenNoneDependsOnItselfThroughOthers() {
    Rules.NO_PACKAGE_CYCLES.check(ALL);
  }

  @Test
  void givenTheEngine_thenNoTypeKnowsOneAboveIt() {
    Rules.ENGINE_HAS_FLOORS.check(ALL);
  }

  @Test
  void givenTheApi_thenItKnowsNothingBehindIt() {
    Rules.API_STANDS_ALONE.check(ALL);
  }

  @Test
  void givenStores_thenNoneKnowsAnother() {
    Rules.STORES_ARE_STRANGERS.check(ALL);
  }

  @Test
  void givenToolsAndAdapters_thenTheySeeThePublicApiOnly() {
    Rules.TOOLS_SEE_THE_PUBLIC_API.check(ALL);
  }

  @Test
  void givenPackagesThatNoModuleExports_thenTheirMembersAreClosed() {
    HiddenMembers.CLOSED.check(ALL);
  }

  @Test
  void givenCoreAndStores_thenTheyReadTheClockThatTheyWereGiven() {
    Rules.CLOCKS_ARE_INJECTED.check(ALL);
  }

  @Test
  void givenCoreAndStores_thenNoneRunsAnythingInTheCommonPool() {
    Rules.COMMON_POOL_IS_THE_APPLICATIONS.check(ALL);
  }

  @Test
  void givenAllModules_thenTheirTextFollowsNoLocale() {
    Rules.TEXT_IS_OF_NO_LOCALE.check(ALL);
  }

  @Test
  void givenCoreAndStores_thenTheirThreadsInheritNothing() {
    Rules.THREADS_INHERIT_NOTHING.check(ALL);
  }

  @Test
  void givenStores_thenAllButTheQuorumKeepFacts() {
    Rules.STORES_KEEP_FACTS.check(ALL);
  }
}
