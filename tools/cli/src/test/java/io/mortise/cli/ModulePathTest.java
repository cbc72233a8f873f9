package io.mortise.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.spi.LockStoreProvider;
import java.io.File;
import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * The library on the module path. The test is here because only this module depends on the whole
 * library; the tool itself, like all other tests, runs on the class path.
 */
class ModulePathTest {

  private static final Set<String> MODULES =
      Set.of("io.mortise.core", "io.mortise.jdbc", "io.mortise.redis");

  @Test
  void givenModulePath_whenStoresAreLookedUp_thenTheSameAsOnTheClassPath() throws Exception {
    Path[] classPath =
        Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
            .map(Path::of)
            .filter(Files::exists)
            // ZooKeeper's jars share packages: no module graph can hold them (ADR 60).
            .filter(
                path ->
                    !path.getFileName()
                        .toString()
                        .matches("((mortise-)?zookeeper|mortise-curator)-.*"))
            .toArray(Path[]::new);
    Configuration resolved =
        ModuleLayer.boot()
            .configuration()
            .resolveAndBind(ModuleFinder.of(classPath), ModuleFinder.of(), MODULES);
    // The parent sees the JDK only, so that nothing comes from the class path by chance.
    ModuleLayer layer =
        ModuleLayer.boot()
            .defineModulesWithOneLoader(resolved, ClassLoader.getPlatformClassLoader());
    Class<?> service =
        layer.findLoader("io.mortise.core").loadClass(LockStoreProvider.class.getName());
    Set<String> onTheClassPath = names(ServiceLoader.load(LockStoreProvider.class));
    onTheClassPath.removeIf(name -> name.matches("io[.]mortise[.](zookeeper|curator)[.].*"));
    assertThat(names(ServiceLoader.load(layer, service))).isEqualTo(onTheClassPath);
  }

  private static Set<String> names(ServiceLoader<?> providers) {
    return providers.stream().map(found -> found.type().getName()).collect(Collectors.toSet());
  }
}
