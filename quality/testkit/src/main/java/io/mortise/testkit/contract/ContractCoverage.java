package io.mortise.testkit.contract;

import io.mortise.spi.LockStoreProvider;
import io.mortise.testkit.contract.client.LockClientContract;
import io.mortise.testkit.contract.differential.DifferentialContract;
import io.mortise.testkit.contract.store.LockStoreContract;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * Proves that no store runs without its contracts. A store's module has one test that calls {@link
 * #verify}.
 */
public final class ContractCoverage {
  /** The contracts that each store has to run. */
  public static final List<Class<?>> CONTRACTS =
      List.of(LockStoreContract.class, DifferentialContract.class, LockClientContract.class);

  private ContractCoverage() {}

  /**
   * Checks that for each scheme of a provider and each of {@link #CONTRACTS} there is a class,
   * beside the anchor, that extends the contract and is marked {@link ContractFor} that scheme.
   *
   * @param anchor any test class of the module
   * @throws AssertionError if one is missing; the message lists all that are
   */
  public static void verify(LockStoreProvider provider, Class<?> anchor) {
    verify(provider.schemes(), anchor);
  }

  /**
   * Like {@link #verify(LockStoreProvider, Class)}, for schemes without a provider.
   *
   * @throws AssertionError if one is missing; the message lists all that are
   */
  public static void verify(Set<String> schemes, Class<?> anchor) {
    List<Class<?>> suites = suites(anchor);
    List<String> missing = new ArrayList<>();
    for (String scheme : new TreeSet<>(schemes)) {
      for (Class<?> contract : CONTRACTS) {
        boolean covered =
            suites.stream()
                .filter(contract::isAssignableFrom)
                .map(suite -> suite.getAnnotation(ContractFor.class))
                .anyMatch(mark -> mark != null && Arrays.asList(mark.value()).contains(scheme));
        if (!covered) {
          missing.add("@ContractFor(\"" + scheme + "\") extends " + contract.getSimpleName());
        }
      }
    }
    if (!missing.isEmpty()) {
      throw new AssertionError(
          "Contracts without a test class beside "
              + anchor.getName()
              + ":\n  "
              + String.join("\n  ", missing));
    }
  }

  private static List<Class<?>> suites(Class<?> anchor) {
    try {
      Path root = Path.of(anchor.getProtectionDomain().getCodeSource().getLocation().toURI());
      try (Stream<Path> files = Files.walk(root)) {
        List<Class<?>> suites = new ArrayList<>();
        for (Path file : files.filter(path -> path.toString().endsWith(".class")).toList()) {
          String name =
              root.relativize(file).toString().replace(file.getFileSystem().getSeparator(), ".");
          Class<?> type =
              Class.forName(
                  name.substring(0, name.length() - ".class".length()),
                  false,
                  anchor.getClassLoader());
          if (!Modifier.isAbstract(type.getModifiers())) {
            suites.add(type);
          }
        }
        return suites;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (URISyntaxException | ClassNotFoundException e) {
      throw new IllegalStateException(
          "Cannot list the classes beside " + anchor.getName() + ".", e);
    }
  }
}
