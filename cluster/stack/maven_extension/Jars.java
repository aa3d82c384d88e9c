package org.densitystudy.maven;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.inject.Inject;
import javax.inject.Named;
import javax.inject.Singleton;
import org.apache.maven.AbstractMavenLifecycleParticipant;
import org.apache.maven.MavenExecutionException;
import org.apache.maven.RepositoryUtils;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.project.DefaultDependencyResolutionRequest;
import org.apache.maven.project.DefaultProjectBuildingRequest;
import org.apache.maven.project.DependencyResolutionException;
import org.apache.maven.project.MavenProject;
import org.apache.maven.project.ProjectBuilder;
import org.apache.maven.project.ProjectBuildingException;
import org.apache.maven.project.ProjectBuildingRequest;
import org.apache.maven.project.ProjectDependenciesResolver;
import org.eclipse.aether.artifact.Artifact;
import org.eclipse.aether.graph.Dependency;

/**
 * An extension of Maven that copies a project's jars to the folder -Dstack.lib, with a line about each in
 * -Dstack.listing: file, group, artifact, version, classifier and licences, separated by tabs.
 *
 * <p>Maven resolves and downloads them itself, by the user's own settings (mirrors, proxies, logins). With it, `mvn
 * validate` is enough: Maven downloads and runs no plug-in.
 */
@Named
@Singleton
public final class Jars extends AbstractMavenLifecycleParticipant {
    private final ProjectDependenciesResolver dependencies;
    private final ProjectBuilder projects;

    @Inject
    Jars(ProjectDependenciesResolver dependencies, ProjectBuilder projects) {
        this.dependencies = dependencies;
        this.projects = projects;
    }

    @Override
    public void afterProjectsRead(MavenSession session) throws MavenExecutionException {
        MavenProject project = session.getCurrentProject();
        try {
            copy(session, project);
        } catch (DependencyResolutionException | ProjectBuildingException | IOException failure) {
            throw new MavenExecutionException(failure.getMessage(), failure);
        }
    }

    private void copy(MavenSession session, MavenProject project)
            throws DependencyResolutionException, ProjectBuildingException, IOException {
        Set<String> scopes = words(session, project, "stack.scopes");
        Set<String> excluded = words(session, project, "stack.excluded");
        DefaultDependencyResolutionRequest request =
                new DefaultDependencyResolutionRequest(project, session.getRepositorySession());
        request.setResolutionFilter((node, parents) -> node.getDependency() != null
                && scopes.contains(node.getDependency().getScope())
                && !excluded.contains(node.getArtifact().getArtifactId()));
        Path library = Paths.get(session.getUserProperties().getProperty("stack.lib"));
        Files.createDirectories(library);
        List<String> lines = new ArrayList<>();
        for (Dependency dependency : dependencies.resolve(request).getResolvedDependencies()) {
            Artifact jar = dependency.getArtifact();
            Path file = jar.getFile().toPath();
            Files.copy(file, library.resolve(file.getFileName()));
            lines.add(String.join("\t", file.getFileName().toString(), jar.getGroupId(), jar.getArtifactId(),
                    jar.getVersion(), jar.getClassifier(), licences(session, project, jar)));
        }
        Collections.sort(lines);
        Files.write(Paths.get(session.getUserProperties().getProperty("stack.listing")), lines);
    }

    /** As the jar's own pom.xml, or one of its parents, names them. */
    private String licences(MavenSession session, MavenProject project, Artifact jar)
            throws ProjectBuildingException {
        ProjectBuildingRequest request = new DefaultProjectBuildingRequest(session.getProjectBuildingRequest());
        request.setValidationLevel(0);
        request.setProcessPlugins(false);
        request.setProject(null);
        request.setRemoteRepositories(project.getRemoteArtifactRepositories());
        return projects.build(RepositoryUtils.toArtifact(jar), true, request).getProject().getLicenses().stream()
                .map(licence -> String.valueOf(licence.getName()).replaceAll("[\\s;]+", " ").trim())
                .collect(Collectors.joining(";"));
    }

    private static Set<String> words(MavenSession session, MavenProject project, String property) {
        String given = session.getUserProperties().getProperty(
                property, project.getProperties().getProperty(property, ""));
        return new HashSet<>(Arrays.asList(given.split("[,\\s]+")));
    }
}
