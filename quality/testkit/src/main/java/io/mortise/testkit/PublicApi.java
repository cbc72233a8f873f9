package io.mortise.testkit;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.annotation.Annotation;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReader;
import java.lang.module.ModuleReference;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The public signatures of a module as sorted lines of text, and the check that compares them with
 * a file kept under version control. A change of API thus shows up in review as a changed line, and
 * never by accident.
 *
 * <p>Counted in: public and protected types and members in packages that the module exports to
 * everybody, or in all packages if it has no descriptor. Left out: packages named {@code internal}
 * and those below them, and members with an annotation named {@code Beta}.
 *
 * <p>The methods read files and block for that long; they keep no state and may be called from any
 * thread.
 */
public final class PublicApi {

  /** System property: if {@code true}, {@link #verify} writes the file instead of comparing. */
  public static final String UPDATE_PROPERTY = "mortise.api.update";

  private static final Set<String> FROM_OBJECT = Set.of("toString/0", "hashCode/0", "equals/1");

  private PublicApi() {}

  /**
   * Compares the API of a module with its golden file.
   *
   * @param anchor any class of the module
   * @param golden the file, one signature per line
   * @throws AssertionError if the two differ or the file is missing; the message has the lines and
   *     the way to accept them
   */
  public static void verify(Class<?> anchor, Path golden) {
    if (Boolean.getBoolean(UPDATE_PROPERTY)) {
      try {
        Files.createDirectories(golden.toAbsolutePath().getParent());
        Files.write(golden, lines(anchor));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    } else {
      compare(anchor, golden);
    }
  }

  static void compare(Class<?> anchor, Path golden) {
    List<String> actual = lines(anchor);
    List<String> expected;
    try {
      expected = Files.exists(golden) ? Files.readAllLines(golden) : List.of();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    if (!expected.equals(actual)) {
      throw new AssertionError(difference(golden, expected, actual));
    }
  }

  /**
   * Lists the API of a module.
   *
   * @param anchor any class of the module
   * @return one line for each type and member, sorted, without duplicates
   * @throws IllegalArgumentException if the class does not come from a folder or jar file
   */
  public static List<String> lines(Class<?> anchor) {
    Set<String> lines = new TreeSet<>();
    for (Class<?> type : exportedTypes(anchor)) {
      if (isApi(type)) {
        describe(type, lines);
      }
    }
    return List.copyOf(lines);
  }

  private static List<Class<?>> exportedTypes(Class<?> anchor) {
    Path origin;
    try {
      origin = Path.of(anchor.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("No folder or jar file holds " + anchor, e);
    }
    Optional<ModuleReference> module =
        ModuleFinder.of(origin).findAll().stream()
            .filter(found -> !found.descriptor().isAutomatic())
            .findFirst();
    try {
      List<Class<?>> types = new ArrayList<>();
      for (String file : module.isPresent() ? files(module.get()) : files(origin)) {
        String name = file.replaceAll("\\.class$", "").replace('/', '.');
        String packageName = name.substring(0, Math.max(0, name.lastIndexOf('.')));
        boolean exported =
            module.map(named -> exports(named).contains(packageName)).orElse(true)
                && !(packageName + ".").contains(".internal.");
        if (exported && file.endsWith(".class") && !name.endsWith(".package-info")) {
          types.add(Class.forName(name, false, anchor.getClassLoader()));
        }
      }
      return types;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ClassNotFoundException e) {
      throw new IllegalArgumentException("Cannot load the classes of " + origin, e);
    }
  }

  private static List<String> files(ModuleReference module) throws IOException {
    try (ModuleReader reader = module.open();
        Stream<String> files = reader.list()) {
      return files.toList();
    }
  }

  private static List<String> files(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .map(file -> folder.relativize(file).toString().replace(File.separatorChar, '/'))
          .toList();
    }
  }

  private static Set<String> exports(ModuleReference module) {
    return module.descriptor().exports().stream()
        .filter(export -> !export.isQualified())
        .map(ModuleDescriptor.Exports::source)
        .collect(Collectors.toSet());
  }

  /** True if code outside the package can name the type: so must all types around it. */
  private static boolean isApi(Class<?> type) {
    for (Class<?> part = type; part != null; part = part.getDeclaringClass()) {
      if (!isVisible(part.getModifiers()) || isBeta(part)) {
        return false;
      }
    }
    return !type.isAnonymousClass() && !type.isLocalClass();
  }

  private static boolean isVisible(int modifiers) {
    return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
  }

  private static boolean isBeta(AnnotatedElement element) {
    return Arrays.stream(element.getAnnotations())
        .map(Annotation::annotationType)
        .anyMatch(type -> type.getSimpleName().equals("Beta"));
  }

  private static void describe(Class<?> type, Set<String> lines) {
    lines.add(type.getName() + ": " + header(type));
    // Members of a hidden superclass can be called on the type, so they count as its own.
    for (Class<?> source = type;
        source != null && (source == type || isHiddenNeighbour(source, type));
        source = source.getSuperclass()) {
      for (Field field : source.getDeclaredFields()) {
        addMember(type, field, field, field.toGenericString(), lines);
      }
      for (Method method : source.getDeclaredMethods()) {
        if (!comesFromObject(method)) {
          addMember(type, method, method, method.toGenericString(), lines);
        }
      }
    }
    for (Constructor<?> constructor : type.getDeclaredConstructors()) {
      addMember(type, constructor, constructor, constructor.toGenericString(), lines);
    }
  }

  private static boolean isHiddenNeighbour(Class<?> source, Class<?> type) {
    return source.getPackageName().equals(type.getPackageName()) && !isApi(source);
  }

  private static String header(Class<?> type) {
    // Not Class.toGenericString(): its output for sealed types differs between Java versions.
    int shown = Modifier.PUBLIC | Modifier.PROTECTED | Modifier.STATIC | Modifier.FINAL;
    int mask =
        type.isInterface() ? Modifier.PUBLIC | Modifier.PROTECTED : shown | Modifier.ABSTRACT;
    StringBuilder header = new StringBuilder(Modifier.toString(type.getModifiers() & mask));
    header.append(type.isSealed() ? " sealed " : " ").append(kind(type));
    if (type.getTypeParameters().length > 0) {
      header.append(
          Arrays.stream(type.getTypeParameters())
              .map(PublicApi::withBounds)
              .collect(Collectors.joining(", ", " <", ">")));
    }
    if (type.getGenericSuperclass() != null && type.getSuperclass() != Object.class) {
      header.append(" extends ").append(type.getGenericSuperclass().getTypeName());
    }
    appendSorted(header, " implements ", type.getGenericInterfaces());
    if (type.isSealed()) {
      appendSorted(header, " permits ", type.getPermittedSubclasses());
    }
    return shorten(header.toString());
  }

  private static String kind(Class<?> type) {
    if (type.isAnnotation()) {
      return "@interface";
    }
    if (type.isInterface()) {
      return "interface";
    }
    return type.isEnum() ? "enum" : type.isRecord() ? "record" : "class";
  }

  private static String withBounds(TypeVariable<?> parameter) {
    return Arrays.stream(parameter.getBounds())
        .filter(bound -> bound != Object.class)
        .map(Type::getTypeName)
        .reduce((one, other) -> one + " & " + other)
        .map(bounds -> parameter + " extends " + bounds)
        .orElse(parameter.toString());
  }

  private static void appendSorted(StringBuilder header, String word, Type[] types) {
    if (types.length > 0) {
      header.append(
          Arrays.stream(types)
              .map(Type::getTypeName)
              .sorted()
              .collect(Collectors.joining(", ", word, "")));
    }
  }

  private static void addMember(
      Class<?> type, Member member, AnnotatedElement element, String signature, Set<String> lines) {
    boolean reachable =
        Modifier.isPublic(member.getModifiers())
            || (Modifier.isProtected(member.getModifiers())
                && !Modifier.isFinal(type.getModifiers()));
    if (reachable && !member.isSynthetic() && !isBeta(element)) {
      String owner = member.getDeclaringClass().getName() + ".";
      String shown =
          signature.replace(" " + owner + member.getName() + "(", " " + member.getName() + "(");
      if (member instanceof Field) {
        shown = shown.replace(" " + owner + member.getName(), " " + member.getName());
      }
      lines.add(type.getName() + ": " + shorten(shown));
    }
  }

  private static String shorten(String text) {
    return text.replaceAll("\\bjava\\.lang\\.(?=[A-Z])", "");
  }

  /** Whether every class has the method; a redeclaration makes no difference to callers. */
  private static boolean comesFromObject(Method method) {
    return FROM_OBJECT.contains(method.getName() + "/" + method.getParameterCount());
  }

  private static String difference(Path golden, List<String> expected, List<String> actual) {
    String gone =
        expected.stream()
            .filter(line -> !actual.contains(line))
            .map(line -> "\n- " + line)
            .collect(Collectors.joining());
    String added =
        actual.stream()
            .filter(line -> !expected.contains(line))
            .map(line -> "\n+ " + line)
            .collect(Collectors.joining());
    return "The public API differs from '%s':%s%s%nIf that is meant, run the same test with -D%s=true and commit the file; a line that goes breaks users."
        .formatted(golden, gone, added, UPDATE_PROPERTY);
  }
}
