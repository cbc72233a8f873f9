package io.mortise.verification.mutant;

import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Loads a store's module once more, with one script changed; all other classes are shared. */
final class MutantClassLoader extends URLClassLoader {
  private final String prefix;
  private final Set<String> shared;
  private final @Nullable ScriptMutant mutant;

  MutantClassLoader(
      List<URL> places,
      ClassLoader parent,
      String prefix,
      Set<String> shared,
      @Nullable ScriptMutant mutant) {
    super(places.toArray(new URL[0]), parent);
    this.prefix = prefix;
    this.shared = shared;
    this.mutant = mutant;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    String outermost = name.contains("$") ? name.substring(0, name.indexOf('$')) : name;
    if (!name.startsWith(prefix) || shared.contains(outermost)) {
      return super.loadClass(name, resolve);
    }
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      return loaded == null ? findClass(name) : loaded;
    }
  }

  @Override
  public @Nullable InputStream getResourceAsStream(String name) {
    return mutant != null && name.equals(mutant.resource())
        ? new ByteArrayInputStream(mutant.text().getBytes(StandardCharsets.UTF_8))
        : super.getResourceAsStream(name);
  }
}
